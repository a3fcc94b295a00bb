local f = loadstring('return ...') return {pcall(f, 1), pcall(error, {err = 'E'}), select('#', 1, 2)}
