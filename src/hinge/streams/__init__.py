"""Streams of events, and how to judge a learner on one."""

from .progressive import Round, StreamLearner, absolute, progressive, wrong

__all__ = ["Round", "StreamLearner", "absolute", "progressive", "wrong"]
