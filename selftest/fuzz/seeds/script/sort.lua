local t = {} for i = 1, 100 do t[i] = {string.rep('ab', i), {ok = 'fine'}} end table.sort(t, function() return true end) return t
