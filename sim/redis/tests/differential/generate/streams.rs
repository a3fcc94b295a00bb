//! Templates of the commands about streams, and of SORT; their words.
//!
//! An id that the server chooses by its clock is never asked for.

use super::Family;

pub(crate) const STREAMS: Family = &[
    (24, "XADD $k $newid $f $v"),
    (8, "XADD $k $newid $fvs"),
    (8, "XADD $k $trim $newid f 1"),
    (3, "XADD $k NOMKSTREAM $trim $newid $fvs"),
    (2, "XADD $k $trim $trim $newid f 1"),
    (2, "XADD $k $id f 1"),
    (1, "XADD $k $newid f"),
    (6, "EVAL $filling 1 $k $entries"),
    (10, "XLEN $k"),
    (12, "XRANGE $k - +"),
    (6, "XRANGE $k $id $id"),
    (4, "XRANGE $k $id $id COUNT $few"),
    (1, "XRANGE $k $id $id COUNT $odd"),
    (5, "XREVRANGE $k + -"),
    (5, "XREVRANGE $k $id $id"),
    (3, "XREVRANGE $k $id $id COUNT $few"),
    (6, "XREAD STREAMS $k $id"),
    (5, "XREAD COUNT $few STREAMS $k $k $id $id"),
    (1, "XREAD COUNT $odd STREAMS $k $id"),
    (1, "XREAD STREAMS $k $k $id"),
    (8, "XTRIM $k $trim"),
    (1, "XTRIM $k $trim $trim"),
    (6, "XDEL $k $id"),
    (3, "XDEL $k $id $id $id"),
    (3, "XSETID $k $id"),
    (1, "XSETID $k $id ENTRIESADDED $few MAXDELETEDID $id"),
    (2, "TYPE $k"),
    (1, "OBJECT ENCODING $k"),
    (3, "DEL $k"),
    (2, "COPY $k $k REPLACE"),
    (2, "RENAME $k $k"),
    (2, "EXPIRE $k $lt"),
    (1, "TTL $k"),
    (1, "SET $k $v"),
    (1, "RPUSH $k $e"),
];

pub(crate) const SORTS: Family = &[
    (10, "SORT $k $sort $sort"),
    (6, "SORT $k ALPHA $sort"),
    (6, "SORT $k BY $pattern_of_keys $sort"),
    (4, "SORT $k ALPHA $sort STORE $k"),
    (3, "SORT $k $sort GET $pattern_of_keys GET #"),
    (3, "SORT_RO $k $sort $sort"),
    (6, "RPUSH $k $es"),
    (6, "RPUSH $k $few $few $few"),
    (3, "SADD $k $few $few $few"),
    (3, "ZADD $k $ms"),
    (3, "LRANGE $k 0 -1"),
    (3, "MSET w1 9 w2 5 w3 x"),
    (3, "HSET h1 f $few"),
    (2, "DEL $k"),
];

/// Ids of entries to come: mostly such that there is a next one.
pub(crate) const NEW_IDS: &[&str] =
    &["1-*", "2-*", "3-*", "3-*", "4-*", "5-*", "5-*", "600-*", "600-*", "700-*", "2-7", "3", "650-1"];

/// Ids, and what is none.
pub(crate) const IDS: &[&str] = &[
    "-",
    "+",
    "0",
    "1",
    "2",
    "3",
    "5",
    "2-7",
    "3-1",
    "(3",
    "(2-7",
    "(5-1",
    "(-",
    "100",
    "101-0",
    "250",
    "600",
    "600-2",
    "99999",
    "x",
    "1-2-3",
    "18446744073709551615-18446744073709551615",
];

/// How streams are trimmed.
pub(crate) const TRIMS: &[&str] = &[
    "MAXLEN $few",
    "MAXLEN = $few",
    "MAXLEN ~ $few",
    "MAXLEN ~ 100",
    "MAXLEN ~ 150",
    "MAXLEN ~ 2 LIMIT 100",
    "MAXLEN ~ $few LIMIT 0",
    "MAXLEN 120",
    "MAXLEN $odd",
    "MINID $id",
    "MINID ~ $id",
    "MINID 110",
    "MINID ~ 250",
    "LIMIT $few",
];

/// What SORT is told.
pub(crate) const SORT_OPTIONS: &[&str] =
    &["ASC", "DESC", "DESC", "LIMIT 0 2", "LIMIT $index $index", "GET w*", "GET #"];

/// Adds entries with ids that no other template gives, and of growing length.
pub(crate) const FILLING: &str = "for i = 1, tonumber(ARGV[1]) do redis.pcall('xadd', KEYS[1], (100 + i) .. '-0', \
     'number', i, 'text' .. i % 90, string.rep('x', i % 50)) end return redis.pcall('xlen', KEYS[1])";
