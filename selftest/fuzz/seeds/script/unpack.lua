return unpack({}, 0, 2147483647)
