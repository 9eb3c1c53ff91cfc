"""Features of the tokens of a sentence, by templates such as word[-1]|word[0].

parser.py has the language, groups.py computes the features, templates.py has `Templates` and the ready-made ones.
"""

from .parser import TemplateError as TemplateError
from .templates import CHUNKING as CHUNKING
from .templates import NAMED as NAMED
from .templates import NAMES as NAMES
from .templates import TAGGING as TAGGING
from .templates import Templates as Templates
