// The rates of designs at other rates of faults, as the page itself reckons them: the weights of strata by Poisson's
// law, the score interval of their weighted sum (scenarios/statistics/src/score.rs), bounds where nothing was seen, and
// the words of the page's unit. Pure functions: nothing here touches the page.

const Z = 1.959963984540054;
const MISS = 0.05;
const FEWEST = 5;
const MOST = 0.1;

/** The strata of a design with each cause so many times as frequent: their weights, and the weight of all beyond. */
function reweigh(data, design, factors) {
  const factor = (cause) => factors[cause] ?? 1;
  const sum = design.means.reduce((all, mean, cause) => all + factor(cause) * mean, 0);
  const most = Math.max(...data.strata.map((faults) => faults.reduce((all, [, count]) => all + count, 0)));
  const before = chanceOfMore(design.means.reduce((all, mean) => all + mean, 0), most);
  const beyond = before > 0 ? Math.min((design.beyond * chanceOfMore(sum, most)) / before, 1) : 0;
  const rows = design.rows.map((row) => {
    const by = data.strata[row.stratum].reduce((all, [cause, count]) => all * factor(cause) ** count, 1);
    return { ...row, weight: row.weight * by };
  });
  const all = rows.reduce((sum, row) => sum + row.weight, 0);
  rows.forEach((row) => { row.weight *= (1 - beyond) / all; });
  return { rows, beyond };
}

/** The chance that a Poisson number of this mean is larger than `most`. */
function chanceOfMore(mean, most) {
  let term = Math.exp(-mean), sum = 0;
  for (let number = 1; number <= most + 1; number += 1) term *= mean / number;
  for (let number = most + 2; term > 0 && !(number > 2 * mean && term < sum * 1e-16); number += 1) {
    sum += term;
    term *= mean / number;
  }
  return sum;
}

/** The root between zero and one, in the form that does not cancel. */
function likeliest(a, oneAndA, seen) {
  const root = Math.sqrt(Math.max(oneAndA * oneAndA - 4 * a * seen, 0));
  return oneAndA > 0 ? (2 * seen) / (oneAndA + root) : (oneAndA - root) / (2 * a);
}

/** The weighted sum of the likeliest shares, and its variance. */
function weigh(strata, at) {
  let rate = 0, variance = 0;
  for (const it of strata) {
    const [a, oneAndA] = at(it.ratio);
    const share = likeliest(a, oneAndA, it.hits / it.runs);
    rate += it.weight * share;
    variance += (it.weight * it.weight * share * (1 - share)) / it.runs;
  }
  return [rate, variance];
}

function edge(start, first, isPast) {
  let inside = start, step = first, outside = start + step;
  for (let round = 0; round < 400 && !isPast(outside); round += 1) {
    step *= 2;
    [inside, outside] = [outside, outside + step];
  }
  // A thousandth of the number is more than words show.
  for (let round = 0; round < 60 && Math.abs(outside - inside) > 1e-4 * Math.abs(outside); round += 1) {
    const middle = 0.5 * (inside + outside);
    if (isPast(middle)) outside = middle; else inside = middle;
  }
  return outside;
}

/** The weighted sum of shares, and its interval. */
function interval(all) {
  const strata = all.filter((it) => it.runs > 0 && it.weight > 0);
  const heaviest = Math.max(...strata.map((it) => it.weight / it.runs));
  strata.forEach((it) => { it.ratio = it.weight / it.runs / heaviest; });
  const value = strata.reduce((sum, it) => sum + (it.weight * it.hits) / it.runs, 0);
  const below = (a) => weigh(strata, (ratio) => [a * ratio, 1 + a * ratio]);
  const above = (less) => weigh(strata, (ratio) => [(less - 1) * ratio, 1 - ratio + less * ratio]);
  const isLow = (a) => { const [rate, variance] = below(a); return value - rate > Z * Math.sqrt(variance); };
  const isHigh = (less) => { const [rate, variance] = above(less); return rate - value > Z * Math.sqrt(variance); };
  const low = strata.every((it) => it.hits === 0) ? 0 : below(edge(0, 1, isLow))[0];
  const isAll = strata.every((it) => it.hits === it.runs);
  const high = isAll ? strata.reduce((sum, it) => sum + it.weight, 0) : above(edgeAbove(isHigh))[0];
  return { value, low, high };
}

/** What is searched goes from one towards zero and below, in powers: shares of silent strata are as small as it is. */
function edgeAbove(isHigh) {
  if (!isHigh(1e-12)) return edge(0, -1, isHigh);
  let [inside, outside] = [0, -28];
  for (let round = 0; round < 40; round += 1) {
    const middle = 0.5 * (inside + outside);
    if (isHigh(Math.exp(middle))) outside = middle; else inside = middle;
  }
  return Math.exp(outside);
}

/** The largest rate at which all strata are silent as often as the confidence misses. */
function silentBound(all) {
  const strata = all.filter((it) => it.runs > 0 && it.weight > 0).sort((one, other) => one.runs / one.weight - other.runs / other.weight);
  if (!strata.length) return 0;
  const first = strata[0].runs / strata[0].weight;
  const less = (it) => Math.log(it.runs / it.weight / first);
  let budget = -Math.log(MISS), runs = 0, level = Infinity;
  for (const it of strata) {
    if (less(it) >= level) break;
    budget += it.runs * less(it);
    runs += it.runs;
    level = budget / runs;
  }
  return strata.reduce((sum, it) => sum - it.weight * Math.expm1(-Math.max(level - less(it), 0)), 0);
}

/** How many plain runs have an interval as wide. */
function plainRuns(value, width) {
  const square = Z * Z, half = (width / (2 * Z)) ** 2;
  const a = half * square * square - square / 4, b = 2 * half * square - value * (1 - value);
  return (Math.sqrt(Math.max(b * b - 4 * a * half, 0)) - b) / (2 * half);
}

/** The rate of a rule per run: `value`, or only a bound `high`; nothing if no run decided. */
function rate({ rows, beyond }, rule) {
  const counted = rows.filter((row) => row.rules[rule]).map((row) => {
    const [violated, undecided] = row.rules[rule];
    return { weight: row.weight, violated, undecided, runs: row.runs };
  });
  const of = (hits, runs) => counted.map((it) => ({ weight: it.weight, hits: hits(it), runs: runs(it) }));
  const decided = of((it) => it.violated, (it) => it.runs - it.undecided);
  if (!decided.some((it) => it.runs > 0)) return {};
  const low = of((it) => it.violated, (it) => it.runs), high = of((it) => it.violated + it.undecided, (it) => it.runs);
  const isOpen = counted.some((it) => it.undecided > 0);
  if (!decided.some((it) => it.hits > 0)) {
    return { high: Math.min((isOpen ? interval(high).high : silentBound(decided)) + beyond, 1) };
  }
  const own = interval(decided), ends = isOpen ? [interval(low), interval(high)] : [own, own];
  const [from, to] = [ends[0].value, ends[1].value];
  const most = Math.min(ends[1].high + beyond, 1);
  const isWide = own.value * plainRuns(own.value, own.high - own.low) < FEWEST;
  const isUndecided = to - from > MOST * Math.min(from, 1 - to) * (1 + 1e-9);
  const isShort = own.value * plainRuns(own.value, most - ends[0].low) < FEWEST || beyond > MOST * own.value;
  return isWide || isUndecided || isShort ? { high: most } : { value: own.value, low: ends[0].low, high: most };
}

/** The same in the page's unit: events a month, or one in so many grants. */
function inUnit(data, reweighed, rule) {
  const told = rate(reweighed, rule);
  const grants = reweighed.rows.reduce((sum, row) => sum + row.weight * row.grants, 0);
  const covered = reweighed.rows.reduce((sum, row) => sum + (row.grants > 0 ? row.weight : 0), 0);
  const by = data.unit === "runs" ? 1 : data.scale / (grants / covered);
  return Object.fromEntries(Object.entries(told).map(([key, value]) => [key, value * by]));
}

const UNITS = [["year", 12], ["month", 1], ["day", 24 / 730], ["hour", 1 / 730], ["minute", 1 / 60 / 730]];

/** Rounded to two digits, thousands apart. */
function digits(number, round) {
  if (!(number < 1e15)) return "very many";
  const place = 10 ** Math.max(Math.floor(Math.log10(Math.abs(number))) - 1, 0);
  return (round((number * (1 + 1e-12)) / place) * place).toLocaleString("en");
}

/** A time between two events in the largest unit of which it has two. */
function once(perMonth, round) {
  const length = 1 / perMonth;
  const [name, unit] = UNITS.find(([, unit]) => length >= 2 * unit * (1 - 1e-9)) ?? UNITS[UNITS.length - 1];
  if (length < UNITS[4][1]) return `${digits(UNITS[4][1] / length, Math.round)} times a minute`;
  const number = digits(length / unit, round);
  return `once in ${number} ${name}${number === "1" ? "" : "s"}`;
}

/** A rate in words. */
function words(data, told) {
  if (told.high === undefined) return "unknown";
  const isRate = told.value !== undefined, number = isRate ? told.value : told.high;
  const round = isRate ? Math.round : Math.floor;
  const text = {
    months: () => once(number, round),
    grants: () => `once in ${digits(1 / number, round)} grants`,
    runs: () => `${number.toPrecision(2)} of runs`,
  }[data.unit]();
  return isRate ? text : `at most ${text}`;
}
