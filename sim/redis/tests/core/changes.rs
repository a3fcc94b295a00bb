//! An observer hears of every change of every key: what it was told adds up to what is there.
//!
//! Every command of the table that may write is called here, on keys of every type, alone, in scripts and in
//! transactions; after each the keyspace must be what the changes so far make of an empty one.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use doublehold_sim::{Seed, Stream};
use doublehold_sim_redis::core::{CoreConfig, KeyChange, Observer, Origin, Session, Stored, StoredValue};
use doublehold_sim_redis::resp::RequestBuffer;

use crate::support::{Node, words};

/// A key's value (a string has one field without a name) and when it expires.
type Held = (BTreeMap<Option<String>, String>, Option<i64>);
/// All keys, by database and name.
type Keyspace = BTreeMap<(usize, String), Held>;

/// The keyspace as the changes make it, and how many there were.
#[derive(Default)]
struct Told(Mutex<(Keyspace, u64)>);

impl Observer for Told {
    fn changed(&self, _: Origin, change: &KeyChange<'_>) {
        let (keyspace, count) = &mut *self.0.lock().unwrap();
        *count += 1;
        let key = (change.database, text(change.key));
        let before = keyspace.remove(&key);
        assert_eq!(before, change.before.map(held), "what {key:?} was before {}", change.command);
        if let Some(after) = change.after {
            keyspace.insert(key, held(after));
        }
    }
}

fn held(stored: Stored<'_>) -> Held {
    let fields = match stored.value {
        StoredValue::String(bytes) => BTreeMap::from([(None, text(bytes))]),
        StoredValue::Hash(fields) => {
            let all: BTreeMap<_, _> =
                fields.iter().map(|(name, value)| (Some(text(name)), text(value))).collect();
            assert_eq!(all.len(), fields.len(), "no field is told twice: {fields:?}");
            assert!(fields.iter().all(|(name, value)| fields.get(name) == Some(value)));
            all
        }
        StoredValue::List(elements) => elements
            .iter()
            .enumerate()
            .map(|(place, element)| (Some(place.to_string()), text(element)))
            .collect(),
        StoredValue::Set(members) => members.iter().map(|name| (Some(text(&name)), String::new())).collect(),
        StoredValue::SortedSet(scores) => {
            scores.iter().map(|(name, score)| (Some(text(name)), score.to_string())).collect()
        }
        StoredValue::Stream(entries) => {
            let pair = |(name, value): &(Vec<u8>, Vec<u8>)| (text(name), text(value));
            let pairs =
                |pairs: &[(Vec<u8>, Vec<u8>)]| format!("{:?}", pairs.iter().map(pair).collect::<Vec<_>>());
            let last = std::iter::once((None, entries.last_id().to_string()));
            entries.iter().map(|entry| (Some(entry.id.to_string()), pairs(entry.pairs))).chain(last).collect()
        }
    };
    (fields, stored.expires_at_ms)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What the node really holds: read from the commands that would rebuild it.
fn keyspace(node: &Node) -> Keyspace {
    let mut buffer = RequestBuffer::new();
    node.core.dump(buffer.tail());
    let (mut keys, mut database) = (Keyspace::new(), 0);
    while let Some(args) = buffer.next_request().expect("a dump is RESP") {
        let args: Vec<String> = args.iter().map(text).collect();
        match args[0].as_str() {
            "SELECT" => database = args[1].parse().unwrap(),
            "SET" => {
                keys.insert((database, args[1].clone()), (BTreeMap::from([(None, args[2].clone())]), None));
            }
            "HSET" => {
                let pairs = args[2..].chunks(2).map(|pair| (Some(pair[0].clone()), pair[1].clone()));
                keys.insert((database, args[1].clone()), (pairs.collect(), None));
            }
            "RPUSH" => {
                let elements = args[2..].iter().enumerate();
                let elements = elements.map(|(place, element)| (Some(place.to_string()), element.clone()));
                keys.insert((database, args[1].clone()), (elements.collect(), None));
            }
            "SADD" => {
                let members = args[2..].iter().map(|name| (Some(name.clone()), String::new()));
                keys.insert((database, args[1].clone()), (members.collect(), None));
            }
            "ZADD" => {
                let scores = args[2..].chunks(2).map(|pair| (Some(pair[1].clone()), pair[0].clone()));
                keys.insert((database, args[1].clone()), (scores.collect(), None));
            }
            "XADD" if args[2] != "MAXLEN" => {
                let (entries, _) = keys.entry((database, args[1].clone())).or_default();
                let pairs: Vec<_> =
                    args[3..].chunks(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect();
                entries.insert(Some(args[2].clone()), format!("{pairs:?}"));
            }
            "XADD" => drop(keys.insert((database, args[1].clone()), Default::default())),
            "XSETID" => {
                let (entries, _) = keys.get_mut(&(database, args[1].clone())).unwrap();
                entries.insert(None, args[2].clone());
            }
            "PEXPIREAT" => {
                keys.get_mut(&(database, args[1].clone())).unwrap().1 = Some(args[2].parse().unwrap())
            }
            other => panic!("a dump has {other}"),
        }
    }
    keys
}

/// Calls of every command that may write. `s` and `t` are mostly strings, `h` and `i` hashes, `n` numbers, `l` and `m`
/// lists, `u` and `v` sets, `z` and `y` sorted sets, `x` and `w` streams.
const CALLS: &[&str] = &[
    "APPEND s x",
    "APPEND none x",
    "COPY s t REPLACE",
    "COPY h i DB 1 REPLACE",
    "COPY h none",
    "DECR n",
    "DECRBY n 5",
    "DEL s none h",
    "EXPIRE s 100",
    "EXPIRE h 100",
    "EXPIRE n -1",
    "EXPIREAT s 2000",
    "EXPIREAT h 1",
    "FLUSHALL",
    "FLUSHDB",
    "GETDEL s",
    "GETEX s PX 700",
    "GETEX s PERSIST",
    "GETEX s PXAT 1",
    "GETSET s y",
    "HDEL h f",
    "HDEL h f g f none",
    "HDEL h uuid:1",
    "HINCRBY h uuid:1 1",
    "HINCRBY none uuid:1 1",
    "HINCRBYFLOAT h uuid:1 0.5",
    "HINCRBYFLOAT none f 0.5",
    "HMSET h g 2 g 3 f 4",
    "HSET h f 1 uuid:1 1",
    "HSET i f 1",
    "HSET s f 1",
    "HSETNX h new 1",
    "INCR n",
    "INCR none",
    "INCRBY n 7",
    "INCRBYFLOAT n 0.5",
    "INCRBYFLOAT none 0.5",
    "MOVE s 1",
    "MOVE h 1",
    "MSET s 1 t 2 h 3",
    "MSETNX m1 1 m2 2",
    "PERSIST s",
    "PERSIST h",
    "PEXPIRE s 5",
    "PEXPIRE h 5",
    "PEXPIRE i 50000",
    "PEXPIREAT h 1000100",
    "PSETEX s 5 x",
    "RENAME s t",
    "RENAME h s",
    "RENAME t h",
    "RENAMENX h none",
    "SET s token NX PX 5",
    "SET s other",
    "SET h over",
    "SET s kept KEEPTTL GET",
    "SETBIT s 4 1",
    "SETEX t 1 x",
    "SETNX none x",
    "SETRANGE s 3 xyz",
    "SETRANGE none 3 xyz",
    "SWAPDB 0 1",
    "UNLINK s h",
    "LPUSH l a b",
    "LPUSH none a",
    "LPUSHX l c",
    "RPUSH m a b a",
    "RPUSH h a",
    "RPUSHX l d",
    "LPOP l",
    "LPOP l 2",
    "RPOP l",
    "RPOP m 5",
    "LSET l 0 x",
    "LREM l 0 a",
    "LREM l -1 b",
    "LTRIM l 1 -1",
    "LTRIM m 5 9",
    "LINSERT l BEFORE a x",
    "LMOVE l m LEFT RIGHT",
    "LMOVE l l LEFT RIGHT",
    "RPOPLPUSH l m",
    "RPOPLPUSH m m",
    "LMPOP 2 l m RIGHT COUNT 2",
    "PEXPIRE l 5",
    "RENAME l m",
    "COPY l m REPLACE",
    "SADD u a b 3",
    "SADD v 1 2 3",
    "SADD l a",
    "SREM u a",
    "SREM v 1 2 3",
    "SPOP u",
    "SPOP v 2",
    "SPOP v 9",
    "SMOVE u v a",
    "SMOVE u u a",
    "SINTERSTORE u u v",
    "SINTERSTORE s u none",
    "SUNIONSTORE u u v",
    "SUNIONSTORE s u v",
    "SDIFFSTORE u u v",
    "SDIFFSTORE s u none",
    "PEXPIRE u 5",
    "RENAME u v",
    "ZADD z 1 a 2 b",
    "ZADD z CH GT 3 a 0 b",
    "ZADD y NX 5 e 1 a",
    "ZADD h 1 a",
    "ZINCRBY z 2 a",
    "ZREM z a x",
    "ZPOPMIN z",
    "ZPOPMAX z 2",
    "ZMPOP 2 y z MIN COUNT 2",
    "ZREMRANGEBYRANK z 0 0",
    "ZREMRANGEBYSCORE z (1 2",
    "ZREMRANGEBYLEX z [a [a",
    "ZRANGESTORE y z 0 1",
    "ZRANGESTORE s z 5 9",
    "ZUNIONSTORE y 2 y z",
    "ZINTERSTORE y 2 y z",
    "ZINTERSTORE s 2 z z",
    "ZDIFFSTORE y 2 y z",
    "ZDIFFSTORE s 1 z",
    "PEXPIRE z 5",
    "RENAME z y",
    "XADD x * a 1 b 2",
    "XADD x MAXLEN ~ 3 * a 1",
    "XADD none NOMKSTREAM * a 1",
    "XADD w MAXLEN 0 * a 1",
    "XADD h * a 1",
    "XDEL x 1-1 9",
    "XTRIM x MAXLEN 1",
    "XTRIM x MINID ~ 2",
    "XSETID x 99999999",
    "PEXPIRE x 5",
    "RENAME x w",
    "COPY w x REPLACE",
    "SORT l ALPHA DESC STORE m",
    "SORT none STORE s",
    // Each finds something in what is there at first; where it does not, it waits for what the next calls bring.
    "BLPOP l 1",
    "BRPOP l m 1",
    "BLMOVE l m LEFT LEFT 1",
    "BRPOPLPUSH l m 1",
    "BLMPOP 1 2 m l LEFT COUNT 2",
    "BZPOPMIN z 1",
    "BZPOPMAX z y 1",
    "BZMPOP 1 2 y z MAX COUNT 2",
    // What clients call besides, for what it does on the way.
    "GET s",
    "HGETALL h",
    "RANDOMKEY",
    "SCAN 0",
    "SELECT 1",
    "SELECT 0",
    "MULTI",
    "EXEC",
];

fn node() -> (Node, Session, Arc<Told>) {
    let told = Arc::new(Told::default());
    let mut node = Node::with(CoreConfig { observer: Some(Arc::clone(&told) as _), ..CoreConfig::default() });
    let client = node.client();
    (node, client, told)
}

fn compare(node: &Node, told: &Told, after: &str) {
    assert_eq!(told.0.lock().unwrap().0, keyspace(node), "after {after}");
}

#[test]
fn what_an_observer_was_told_is_what_is_there_whatever_was_called() {
    for seed in 0..60 {
        let mut random = Stream::new(Seed(seed), "changes");
        let (mut node, mut client, told) = node();
        for _ in 0..300 {
            let call = CALLS[random.below(CALLS.len() as u64) as usize];
            let in_lua = format!("return redis.pcall('{}')", call.replace(' ', "', '"));
            match random.below(4) {
                0 => node.ask(&mut client, &["EVAL", &in_lua, "0"]),
                _ => node.ask(&mut client, &words(call)),
            };
            compare(&node, &told, call);
            node.now_ms += random.below(4) as i64;
            if random.below(10) == 0 {
                node.core.expire_cycle(node.now());
                compare(&node, &told, "the cycle that deletes what has expired");
            }
        }
    }
}

#[test]
fn every_command_that_may_write_is_called_and_told_of() {
    let (mut node, mut client, _) = node();
    let flags =
        |node: &mut Node, client: &mut Session, name: &str| node.ask(client, &["COMMAND", "INFO", name]);
    let names = node.ask(&mut client, &["COMMAND", "LIST"]);
    let mut missing = Vec::new();
    for name in names.split('|').filter(|word| !word.is_empty() && !word.starts_with(['*', '$'])) {
        // There is no function, and none in the observer's keyspace.
        let is_about_keys = !name.starts_with("function");
        if !is_about_keys || !flags(&mut node, &mut client, name).contains("+write|") {
            continue;
        }
        let upper = name.to_uppercase();
        let mut calls = CALLS.iter().filter(|call| call.split(' ').next() == Some(&upper));
        if !calls.any(|call| is_told_of(call)) {
            missing.push(upper);
        }
    }
    assert!(missing.is_empty(), "no call in this file makes {missing:?} change a key and tell");
}

/// Whether the call changes what is there, and tells.
fn is_told_of(call: &str) -> bool {
    let (mut node, mut client, told) = node();
    for set_up in [
        "SET s 1 PX 9000",
        "SET n 4",
        "HSET h f 1 uuid:1 2",
        "RPUSH l a b c",
        "SADD u a b 3",
        "ZADD z 1 a 2 b",
        "XADD x 1-1 a 1",
        "XADD x 2-1 a 1 b 2",
    ] {
        node.ask(&mut client, &words(set_up));
    }
    let count = told.0.lock().unwrap().1;
    let before = keyspace(&node);
    node.ask(&mut client, &words(call));
    compare(&node, &told, call);
    keyspace(&node) != before && told.0.lock().unwrap().1 > count
}

#[test]
fn what_comes_from_a_master_or_a_file_and_what_expires_on_loading_is_told_of() {
    let (mut node, _, told) = node();
    let mut loading = Session::loading();
    for line in ["SET s a", "PEXPIREAT s 5", "HSET h f 1", "PEXPIREAT h 5", "HSET i f 1"] {
        node.apply(&mut loading, &words(line));
        compare(&node, &told, line);
    }
    node.core.drop_expired(node.now());
    compare(&node, &told, "the expired keys of a file are dropped");
    node.become_replica();
    let mut link = Session::master_link(0);
    for line in ["HINCRBY i f 1", "HDEL i f", "HSET h f 1", "RENAME h s"] {
        node.apply(&mut link, &words(line));
        compare(&node, &told, line);
    }
    node.core.clear_all(Origin::Master);
    compare(&node, &told, "a full resynchronisation begins");
}

/// Nobody loses anything by it: the key's time was up before.
#[test]
fn who_flushes_deletes_no_key_whose_time_was_up() {
    #[derive(Default)]
    struct Told(Mutex<Vec<String>>);
    impl Observer for Told {
        fn changed(&self, origin: Origin, change: &KeyChange<'_>) {
            if change.after.is_none() {
                let key = String::from_utf8_lossy(change.key).into_owned();
                self.0.lock().unwrap().push(format!("{} {key} {}", change.command, origin == Origin::Node));
            }
        }
    }
    for flush in ["FLUSHDB", "FLUSHALL"] {
        let told = Arc::new(Told::default());
        let mut node =
            Node::with(CoreConfig { observer: Some(Arc::clone(&told) as _), ..CoreConfig::default() });
        let mut client = node.client();
        for line in ["SET gone 1 PX 5", "SET here 1 PX 500", "SET stays 1"] {
            node.ask(&mut client, &words(line));
        }
        node.now_ms += 6;
        node.ask(&mut client, &words(flush));
        let mut told = told.0.lock().unwrap().clone();
        told.sort();
        assert_eq!(
            told,
            ["EXPIRED gone true".to_owned(), format!("{flush} here false"), format!("{flush} stays false")]
        );
    }
}

#[test]
fn a_change_of_a_few_fields_shows_all_fields_before_and_after() {
    #[derive(Default)]
    struct Fields(Mutex<Vec<String>>);
    impl Observer for Fields {
        fn changed(&self, _: Origin, change: &KeyChange<'_>) {
            self.0.lock().unwrap().push(crate::support::change_text(change));
        }
    }
    let fields = Arc::new(Fields::default());
    let mut node =
        Node::with(CoreConfig { observer: Some(Arc::clone(&fields) as _), ..CoreConfig::default() });
    let mut client = node.client();
    for line in [
        "HSET lock mode write a:1:write 1",
        "HINCRBY lock a:1:write 1",
        "HDEL lock a:1:write none",
        "HSET lock b:2 1 b:2 2",
        "PEXPIRE lock 30000",
        "HDEL lock mode b:2",
    ] {
        node.ask(&mut client, &words(line));
    }
    let expected = [
        r#"HSET lock - -> {"mode": "write", "a:1:write": "1"} until ever"#,
        r#"HINCRBY lock {"mode": "write", "a:1:write": "1"} -> {"mode": "write", "a:1:write": "2"} until ever"#,
        r#"HDEL lock {"mode": "write", "a:1:write": "2"} -> {"mode": "write"} until ever"#,
        r#"HSET lock {"mode": "write"} -> {"mode": "write", "b:2": "2"} until ever"#,
        r#"PEXPIRE lock {"mode": "write", "b:2": "2"} -> {"mode": "write", "b:2": "2"} until 1030000"#,
        r#"HDEL lock {"mode": "write", "b:2": "2"} -> - until ever"#,
    ];
    assert_eq!(*fields.0.lock().unwrap(), expected);
}
