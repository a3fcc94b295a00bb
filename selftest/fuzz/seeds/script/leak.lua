table.insert(redis, 'leak') rawset(string, 'x', 1) setmetatable(_G, nil) return redis
