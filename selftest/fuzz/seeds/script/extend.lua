local ttl = redis.call('pttl', KEYS[1]) if ttl < 0 then return redis.error_reply('gone') end return redis.call('pexpire', KEYS[1], ttl + 100)
