return {string.find('a.b', '%.', 1), ('x'):gsub('x*', '%0%0'), string.format('%q %5.2f', 'a', 1/3), tostring(nil)}
