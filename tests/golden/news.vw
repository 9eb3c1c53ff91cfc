1 'n0|t of score a very |b:0.5 goal:2 score very match:1
2 'n1|t says new new profit |b:0.5 of a profit tax
3 'n2|t today the of report |b:0.5 a today says sun:1
1 'n3|t season the the player |b:0.5 says the team ball
2 'n4|t price new tax a |b:0.5 says:2 stock new says
3 'n5|t the report report says |b:0.5 the the says says
3 'n6|t warm rain of wind |b:0.5 says cloud a cold
1 'n7|t goal very team goal |b:0.5 match report a report
3 'n8|t warm the of snow |b:0.5 new today snow says
1 0.5 'n9|t the goal new the |b:0.5 a coach ball new
1 2 'n10|t goal team coach of |b:0.5 the new:1 coach season:1
1 'n11|t the a very player |b:0.5 season says goal new:1
1 'n12|t season the new score |b:0.5 report:2 season today:1 coach
2 'n13|t says market new report |b:0.5 a the today the
2 'n14|t a market says a |b:0.5 stock market:1 the of
2 'n15|t tax new new new |b:0.5 of profit tax of
3 'n16|t of wind cold says |b:0.5 new says says snow
1 'n17|t score today the a |b:0.5 new the today:2 a:1
2 'n18|t bank tax market trade |b:0.5 says profit:2 report loan
1 'n19|t a a coach player |b:0.5 report says:2 says player:2
3 'n20|t of of snow cloud |b:0.5 new:2 of says a
1 'n21|t coach player new team |b:0.5 team team a goal:1
2 'n22|t of today report the |b:0.5 very new:1 trade says:1
2 'n23|t profit stock profit trade |b:0.5 of market:2 the stock
3 0.5 'n24|t a the report today |b:0.5 today wind a new:2
1 'n25|t says score new score |b:0.5 says player player today
3 'n26|t wind warm the cloud |b:0.5 cloud:2 rain:1 cold rain
1 'n27|t team team says score |b:0.5 says:2 says player report:1
3 'n28|t cloud very cold snow |b:0.5 snow the warm storm
2 'n29|t tax report report very |b:0.5 profit price:2 new:1 the
3 'n30|t the the cold the |b:0.5 warm a storm sun
1 'n31|t the coach today new |b:0.5 report today:2 a:2 team
3 'n32|t very report snow says |b:0.5 very:1 today rain a
3 'n33|t wind rain warm storm |b:0.5 cloud:2 today very new
3 2 'n34|t says the sun cloud |b:0.5 rain the wind warm:2
2 'n35|t stock trade report new |b:0.5 profit today trade profit
3 2 'n36|t cloud of of the |b:0.5 snow cold the today
2 'n37|t stock very trade bank |b:0.5 price today:1 new report:2
2 'n38|t new price market a |b:0.5 loan:1 trade very price
3 'n39|t the sun says says |b:0.5 sun snow very cold
1 'n40|t report says season team |b:0.5 today a a the
2 'n41|t bank profit of price |b:0.5 very the:1 bank:1 price
2 'n42|t new bank price trade |b:0.5 loan a the of
3 'n43|t very cold very very |b:0.5 says snow:1 today says
1 'n44|t ball match ball team |b:0.5 report says score goal
3 'n45|t report report storm sun |b:0.5 today report today storm
3 'n46|t the warm says warm |b:0.5 sun wind snow:2 new
2 'n47|t market of bank bank |b:0.5 market tax bank loan
2 'n48|t market new price says |b:0.5 a:2 a:1 loan profit
3 'n49|t says sun a cold |b:0.5 rain warm a report
1 'n50|t ball today a score |b:0.5 new score today coach
2 'n51|t today tax today today |b:0.5 market:2 a new report
3 'n52|t warm wind storm rain |b:0.5 report today snow cloud
1 'n53|t new new says ball |b:0.5 score of season today
1 'n54|t season match a match |b:0.5 very of very:2 ball
3 'n55|t report says new report |b:0.5 cold today:2 wind:2 new
2 'n56|t report bank today price |b:0.5 market report market:2 report
2 'n57|t price stock today report |b:0.5 a price today:2 report
3 'n58|t snow new new storm |b:0.5 new rain rain cloud
1 0.5 'n59|t report match team says |b:0.5 player of team of
3 'n60|t says rain warm rain |b:0.5 cold report wind snow
1 'n61|t goal season player a |b:0.5 today ball player score
3 'n62|t warm a snow a |b:0.5 cloud cloud cloud storm
2 'n63|t bank the profit the |b:0.5 trade:1 profit:1 says says:2
3 'n64|t of a says the |b:0.5 report a cold new
3 'n65|t snow today storm new |b:0.5 today the the today
2 'n66|t report bank tax tax |b:0.5 stock stock the a
3 'n67|t warm cloud today a |b:0.5 of:2 sun wind:1 says
3 'n68|t cold the rain report |b:0.5 warm sun sun warm
2 'n69|t today today new trade |b:0.5 today:1 says a report
1 'n70|t says season coach today |b:0.5 today:1 team:2 season today:2
1 'n71|t player a player the |b:0.5 very of a report
2 'n72|t report report very the |b:0.5 says market:1 of trade
3 2 'n73|t warm snow snow very |b:0.5 a:1 sun:2 today:1 says
2 'n74|t says the the tax |b:0.5 loan tax of:2 says
2 'n75|t loan loan of market |b:0.5 tax:2 very tax:2 a
3 'n76|t snow very today says |b:0.5 sun very cloud storm
1 'n77|t today a goal a |b:0.5 score ball report of
2 'n78|t stock report a bank |b:0.5 profit market loan:1 today
2 'n79|t trade report report of |b:0.5 new tax:1 a says:2
1 'n80|t new coach of player |b:0.5 the report today new
1 2 'n81|t match today score very |b:0.5 of new new new
2 'n82|t tax new loan says |b:0.5 report says today new
3 'n83|t wind a a the |b:0.5 new the says cold
2 'n84|t new stock profit loan |b:0.5 profit new market report
2 'n85|t a very a market |b:0.5 report stock:1 report the
1 'n86|t match a score team |b:0.5 today season a:2 team:2
1 'n87|t of goal says ball |b:0.5 today report of:1 ball
3 'n88|t report new says wind |b:0.5 today cloud storm snow
1 'n89|t new of score match |b:0.5 player:2 very team:2 report:2
3 'n90|t very new new cold |b:0.5 cold sun storm new
1 'n91|t team report today season |b:0.5 says of ball score
3 'n92|t warm says cold a |b:0.5 new says says wind
3 'n93|t snow snow storm says |b:0.5 wind the:1 new new
2 'n94|t price of a report |b:0.5 report says bank says
1 0.5 'n95|t the player a new |b:0.5 ball match:2 today team
1 'n96|t team score today player |b:0.5 player player:1 of player
2 'n97|t a stock market today |b:0.5 stock market:1 of loan:2
2 'n98|t profit report trade profit |b:0.5 a today says very
1 'n99|t a of match ball |b:0.5 says goal coach score
3 'n100|t storm new a today |b:0.5 a sun the says:1
1 'n101|t a of of very |b:0.5 player the:2 ball:1 coach:1
3 'n102|t new warm very cold |b:0.5 says the wind very
2 'n103|t report loan report says |b:0.5 profit market trade:2 market
2 'n104|t stock report stock report |b:0.5 bank profit says new
3 2 'n105|t sun wind cold wind |b:0.5 new cold the:1 very
1 'n106|t match today very very |b:0.5 goal report report:2 report:2
3 0.5 'n107|t cold very rain snow |b:0.5 very snow storm sun
3 'n108|t the the today snow |b:0.5 warm cold cold today
1 'n109|t team says very match |b:0.5 very new:1 very ball
3 'n110|t warm the very new |b:0.5 storm storm report wind
1 'n111|t a score the player |b:0.5 player match coach very
1 'n112|t report says today the |b:0.5 new a the today
3 'n113|t new warm wind wind |b:0.5 report the report wind
2 'n114|t new new new new |b:0.5 says profit a loan
1 'n115|t very says very the |b:0.5 goal season score:1 of
3 2 'n116|t sun of cold warm |b:0.5 the wind the a:2
2 'n117|t a the tax market |b:0.5 profit profit loan very
2 'n118|t new profit a report |b:0.5 the stock trade of
3 'n119|t of says the very |b:0.5 today rain today sun
