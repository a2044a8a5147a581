"use strict";
// The page of the app. What was chosen stands in the fields and in `sensitive`; the server has files and reports, and
// keeps what was chosen for when the page is loaded again.
const $ = (id) => document.getElementById(id);
const files = {};  // by role: {id, name, columns, ...}
let sensitive = [];  // [{column, bins}]
let job = null;
const SINGLE = ["target", "prediction", "second", "weight", "cluster", "given", "score"];
const FORMAT = ["delimiter", "decimal", "encoding"];
const FIELDS = [...SINGLE, "threshold", "positive", "favourable", "missing", "groups", "limit"];
const TAB = sessionStorage.tab ??= crypto.randomUUID();  // of this tab of the browser, whose choices are its own
const GONE = "The app does not answer. Was it ended in its terminal? Start it again.";

function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

async function ask(path, options = {}) {
  const response = await fetch(path, options).catch(() => { throw new Error(GONE); });
  if (response.status === 204) return null;
  const answer = await response.json().catch(() => ({error: `The app answered with error ${response.status}.`}));
  if (!response.ok) throw new Error(answer.error);
  return answer;
}

const post = (path, fields) => ask(path, {method: "POST", body: JSON.stringify(fields)});
const forget = (file) => ask(`files/${file.id}`, {method: "DELETE"}).catch(() => null);

// ------------------------------------------------------------------ errors, at their field

// What this page calls the options of the command: errors of the library speak of these.
const WORDS = {
  " If these are groups, pass --max-groups \\d+\\.": " Cut numbers into groups, or leave a column out.",
  " \\(--bins\\)": "",
  "--missing drop": "“leave these rows out”", "--missing group": "“a group of their own”",
  "--missing bounds": "“leave these rows out, and say what they could change”",
  "--missing": "rows without a value", "--groups marginal": "“each column on its own”",
  "--groups": "several columns", "--min-rows": "small combinations in one group", "--bins": "cutting",
  "--target": "the label", "--prediction": "the prediction", "--sensitive": "sensitive columns:",
  "--train": "the training file", "--weight": "the weight", "--cluster": "the cluster", "--given": "the strata",
  "--score": "the scores behind the prediction",
  "--numeric": "“numbers”", "--threshold": "the score", "--positive": "“high scores mean”",
  "--favourable": "the outcome that people want", "--limit": "the limit", "--delimiter": "the sign between cells",
  "--encoding": "the letters", "--decimal": "the decimal sign",
};
const INPUTS = {sensitive: "add-sensitive", test: "file-test", train: "file-train", other: "file-other"};

// Each field has a place for its error.
for (const {id} of document.querySelectorAll("input, select")) {
  const [field] = Object.entries(INPUTS).find(([, input]) => input === id) ?? [id];
  $(id).closest("div").append(make("p", {className: "error", id: `error-${field}`, role: "alert"}));
}

// An error of the command stands at the field of the option, or file, that it names first.
function explain(text) {
  const places = Object.entries(files).map(([role, {name}]) => [text.indexOf(name), role]);
  for (const [option, name] of text.matchAll(/--([a-z-]+)/g)) {
    if (option in WORDS) places.push([text.indexOf(option), name.replace("bins", "sensitive")]);
  }
  const [, field] = places.filter(([at]) => at >= 0).sort(([a], [b]) => a - b)[0] ?? [0, "run"];
  const begins = text.startsWith("--");
  for (const [name, words] of Object.entries(WORDS)) text = text.replace(new RegExp(`${name}(?![\\w-])`, "g"), words);
  fail(field, begins ? text[0].toUpperCase() + text.slice(1) : text);
}

const failed = {};  // by the place of an error: what stood there
const stateOf = (place) => (place === "sensitive" ? JSON.stringify(sensitive)
  : files[place]?.id ?? `${$(place)?.value} ${$(place)?.checked}`);

function fail(field, text) {
  const place = $(`error-${field}`) ? field : "run";
  $(`error-${place}`).textContent = text;
  failed[place] = stateOf(place);
  const input = $(INPUTS[place] ?? place);
  if (place !== "run") {
    input.setAttribute("aria-invalid", "true");
    input.setAttribute("aria-describedby", `error-${place}`);
  }
  for (let around = input.closest("details"); around; around = around.parentElement.closest("details")) around.open = true;
  input.closest(".field")?.removeAttribute("hidden");
  input.focus();
}

function clearErrors(places = Object.keys(failed)) {
  for (const place of places) {
    $(`error-${place}`).textContent = "";
    $(INPUTS[place] ?? place).removeAttribute("aria-invalid");
    delete failed[place];
  }
}

// An error goes as soon as its field changes; one about the whole, with any change.
const clearMended = () => clearErrors(Object.keys(failed).filter((place) => place === "run" || stateOf(place) !== failed[place]));

const errorAt = (field, text) => Object.assign(new Error(text), {field});

// ------------------------------------------------------------------ step 1: files

const uploads = {};

async function send(role, file) {
  clearErrors();
  if (!file) return;
  uploads[role]?.abort();
  const {signal} = uploads[role] = new AbortController();
  $(`status-${role}`).textContent = `Copying ${file.name} …`;
  try {
    await received(role, await ask(`files?name=${encodeURIComponent(file.name)}`, {method: "POST", body: file, signal}));
  } catch ({message}) {
    // A server that refuses a large file ends the connection before all of it was sent.
    const lost = `${file.name} was not taken: it is too large or no table, or the app has ended.`;
    if (!signal.aborted) refuse(role, message === GONE ? lost : message);
  }
}

function refuse(role, text) {
  $(`status-${role}`).textContent = files[role] ? `Still used: ${files[role].name}` : "";
  fail(role, text);
}

function showStatus(role) {
  const {name, n_rows, columns} = files[role];
  const button = make("button", {type: "button", textContent: `Remove ${name}`, onclick: () => remove(role)});
  $(`status-${role}`).replaceChildren(`✓ ${name}: ${count(n_rows)} rows, ${columns.length} columns `, ...role === "test" ? [] : [button]);
}

// Reads a file that was stored, or reads it again in another way.
async function read(role, file, how) {
  const described = await post(`files/${file.id}/columns`, how);
  if (files[role] && files[role].id !== file.id) forget(files[role]);
  files[role] = {proposed: described.format, ...file, ...described};
  showStatus(role);
  if (role === "test") showFile();
  changed();
}

async function received(role, file) {
  $(`status-${role}`).textContent = `Reading ${file.name} …`;
  try {
    await read(role, file, role === "test" ? {} : format());
  } catch (error) {
    forget(file);
    refuse(role, error.message);
  }
}

function remove(role) {
  forget(files[role]);
  delete files[role];
  $(`status-${role}`).textContent = "";
  $(`file-${role}`).focus();
  changed();
}

const format = () => (files.test?.format.delimiter ? Object.fromEntries(FORMAT.map((name) => [name, $(name).value])) : {});

function reread() {
  clearErrors();
  read("test", files.test, format()).catch(({message}) => fail("test", message));
}

function showFile() {
  const file = files.test;
  for (const part of document.querySelectorAll(".known")) part.hidden = false;
  $("format").hidden = !file.format.delimiter;
  for (const [name, value] of Object.entries(file.format)) $(name).value = value;
  const [mark, decimal] = FORMAT.map((name) => $(name).selectedOptions[0]?.textContent.match(/\w+/)[0]);
  $("read-as").textContent = `Read with ${mark}, decimal ${decimal}, ${file.format.encoding}. Wrong cells?`;
  const row = (tag, cells) => make("tr", {}, ...cells.map((cell) => make(tag, {textContent: cell})));
  const names = file.columns.map(({name}) => name);
  const seen = names.map((_, i) => [...file.columns[i].classes, ...file.rows.map((cells) => cells[i])]);
  const commas = names.filter((_, i) => seen[i].join("").includes(",") && seen[i].every((cell) => /^-?\d*(,\d+)?$/.test(cell)));
  $("comma-why").textContent = commas.length ? `${commas.join(", ")}: these look like numbers with a comma, such as 0,5, and ` +
    "are read as texts. If the comma is their decimal sign, choose it above." : "";
  if (commas.length) $("format").open = true;
  $("rows").tHead.replaceChildren(row("th", names));
  $("rows").tBodies[0].replaceChildren(...file.rows.map((cells) => row("td", cells.map((cell, i) => (file.columns[i].number ? local(cell) : cell)))));
  const firsts = {target: "please choose", prediction: "please choose", "add-sensitive": "add a column"};
  for (const id of [...SINGLE, "add-sensitive"]) offer(id, firsts[id] ?? "none", names);
  sensitive = sensitive.filter(({column}) => names.includes(column));
  file.roles = propose(file.columns);
}

// ------------------------------------------------------------------ step 2: columns

const columnOf = (name) => files.test.columns.find((column) => column.name === name);
const count = (n) => n.toLocaleString("en");
const local = (n) => String(n).replace(".", files.test.format.decimal || ".");  // a number as the file writes it

function says({number, classes, range, missing}) {
  const written = classes.map(number ? local : String);
  const few = classes.length <= 5 ? `: ${written.join(", ")}` : "";
  const values = classes.length === 2 ? written.join(" or ")
    : classes.length ? `${classes.length} ${classes.length === 1 ? "value" : "values"}${few}`
    : number ? `numbers from ${local(range[0])} to ${local(range[1])}` : "many different texts";
  return values + (missing ? `, missing in ${count(missing)} rows` : "");
}

// What names say about a role, and what its column must hold. The first role that fits takes a column.
const varies = ({number, classes}) => number || classes.length > 1;
const ROLES = {
  weight: [/weight|^wt$/, ({number, range}) => number && range[0] >= 0],
  prediction: [/pred|score|prob|y_?hat|decile|model|output|decision|grant|approv|vorhers|entscheid|bewillig|punkt/, varies],
  target: [/true|label|target|actual|truth|outcome|observed|recid|repaid|tats|^y$|^class$/, varies],
  sensitive: [/sex|gender|race|ethnic|^age|religio|disab|national|marital|skin|orientation|geschlecht|^alter(?!n)|herkunft/, varies],
  score: [/$^/],  // those of predictions, if another one is a decision
  cluster: [/person|patient|customer|user|family|household|image|cluster/, ({classes}) => !classes.length],
};

function propose(columns) {
  const roles = Object.fromEntries(Object.keys(ROLES).map((role) => [role, []]));
  const rest = [];
  for (const column of columns) {
    const fits = ([, [name, holds]]) => name.test(column.name.toLowerCase()) && holds(column);
    const [role] = Object.entries(ROLES).find(fits) ?? [];
    const cut = role === "sensitive" && column.cuts.length ? `; to be cut at ${column.cuts.join(", ")}` : "";
    if (role) roles[role].push({column: column.name, why: says(column) + cut});
    else rest.push(column);
  }
  // A label has the values of the prediction, whatever it is called; and the other way round.
  const values = ({classes}) => JSON.stringify(classes);
  for (const [role, other] of [["target", "prediction"], ["prediction", "target"]]) {
    const partner = columnOf(roles[other][0]?.column);
    if (roles[role].length || !partner?.classes.length) continue;
    for (const column of rest.filter((column) => values(column) === values(partner))) {
      roles[role].push({column: column.name, why: `${says(column)}, the same values as ${partner.name}`});
    }
  }
  // Numbers that are called scores, beside a decision, are what this was made from.
  const decision = roles.prediction.find(({column}) => columnOf(column).classes.length === 2);
  const isScore = ({column: name}) => decision && decision.column !== name && columnOf(name).number && /score|prob|decile|punkt/i.test(name);
  roles.score = roles.prediction.filter(isScore).map((score) => ({...score, why: `${score.why}; ${decision.column} may come from them`}));
  return {...roles, prediction: roles.prediction.filter((other) => !isScore(other))};
}

function showProposals() {
  $("use-all").closest("p").hidden = !Object.values(files.test.roles).flat().length;
  for (const place of document.querySelectorAll("[data-proposal]")) {
    const role = place.dataset.proposal;
    const isOpen = ({column}) => (role === "sensitive" ? !sensitive.some((entry) => entry.column === column) : !$(role).value);
    place.replaceChildren(...files.test.roles[role].filter(isOpen).slice(0, 6).map(({column, why}) => make("span", {},
      make("button", {type: "button", textContent: `Use ${column}`, onclick: () => { use(role, column); changed(); }}), ` ${why}`)));
  }
}

function use(role, column) {
  if (role !== "sensitive") $(role).value = column;
  else if (column && !sensitive.some((entry) => entry.column === column)) {
    sensitive.push({column, bins: columnOf(column).cuts.join(", ")});
  }
}

function useAll() {
  for (const role of ["target", "prediction", "score"]) {
    if (!$(role).value && files.test.roles[role].length) use(role, files.test.roles[role][0].column);
  }
  for (const {column} of files.test.roles.sensitive) use("sensitive", column);
  changed();
}

function showSensitive() {
  $("sensitive").replaceChildren(...sensitive.map((entry, i) => {
    const column = columnOf(entry.column);
    const drop = () => { sensitive.splice(i, 1); changed(); $("add-sensitive").focus(); };
    const button = make("button", {type: "button", textContent: "Remove", ariaLabel: `Remove ${entry.column}`, onclick: drop});
    const item = make("li", {}, make("b", {textContent: entry.column}), ` ${says(column)} `, button);
    if (column.cuts.length) {
      const text = `Cut ${entry.column} into groups at these numbers. Empty: each number is a group.`;
      const input = make("input", {id: `bins-${i}`, value: entry.bins, autocomplete: "off"});
      input.addEventListener("input", () => { entry.bins = input.value; showLimit(); showStale(); });
      input.addEventListener("change", countGroups);
      const why = `Proposal: ${column.cuts.join(", ")}. These are round numbers near the thirds of the rows. ` +
        "Enter others if the law or your question names them.";
      item.append(make("label", {htmlFor: input.id, textContent: text}), input, make("p", {className: "why", textContent: why}));
    }
    return item;
  }));
}

function offer(id, first, values, textOf = (value) => value) {
  const kept = $(id).value;  // what was chosen for a file with the same columns stays
  $(id).replaceChildren(new Option(first, ""), ...values.map((value) => new Option(textOf(value), value)));
  if (values.includes(kept)) $(id).value = kept;
}

const hide = (id, hidden) => { $(`${id}-field`).hidden = hidden; };
const compares = () => Boolean(files.other || $("second").value);
const isNumeric = () => $("numeric").checked && !$("numeric-field").hidden;

// Fields that depend on others come and go; what they hold stays.
function changed() {
  if (!files.test) return;
  const [target, prediction] = [columnOf($("target").value), columnOf($("prediction").value)];
  const outcome = (value) => `${target.name} is ${value}`;
  hide("numeric", !(target?.number && target.classes.length !== 2));
  $("numeric-why").textContent = target?.number && !target.classes.length ? `Proposal: yes. ${target.name} has ${says(target)}.` : "";
  const scored = !isNumeric() && prediction?.number && target?.classes.length === 2 && prediction.classes.length !== 2;
  hide("threshold", !scored);
  $("threshold-why").textContent = scored ? `${prediction.name} holds ${says(prediction)}. Enter the score from ` +
    "which people are selected in practice." : "";
  hide("positive", !(scored && target.classes.join() !== "0,1"));
  offer("positive", "please choose", target?.classes ?? [], outcome);
  hide("score", Boolean(scored || compares() || (!prediction && !files.test.roles.score.length)));
  hide("favourable", isNumeric() || !target?.classes.length);
  offer("favourable", "I do not know, or it depends", target?.classes ?? [], outcome);
  const lacking = sensitive.map(({column}) => columnOf(column)).filter(({missing}) => missing);
  hide("missing", !lacking.length);
  $("missing-why").textContent = lacking.map(({name, missing}) => `${name}: ${count(missing)} rows`).join(", ");
  hide("groups", sensitive.length < 2);
  countGroups();
  showLimit();
  showSensitive();
  showProposals();
  showStale();
}

// What a limit may be about. The command takes a share: of the gap between two groups it takes half, since each of them
// moves by so much compared with all rows.
const LIMITS = {
  gap: {about: "the gap between two groups, in percentage points", parts: 200, example: 4, size: 10,
    of: (size) => `a gap of ${size}`, mean: ""},
  gaps: {about: "each group's gap to all rows, on average, in percentage points", parts: 100, example: 2, size: 10,
    of: (size) => `gaps of ${size}`, mean: ", on average over groups. One group may change by more, unless the labels show no gap"},
  means: {about: "each group's distance to all rows, on average, in standard deviations of the label", parts: 1,
    example: 0.1, size: 1, of: (size) => `distances of ${size}`, mean: ", on average over groups"},
};
// Combinations of several columns may be groups of few rows, which should be known before the report is made.
const SMALL = "30";  // rows
let counted = "";  // the combinations that were counted last

async function countGroups() {
  const cuts = sensitive.map((entry) => [entry.column, isCut(entry) ? cutsOf(entry).map(decimal) : []]);
  const asked = {cuts: Object.fromEntries(cuts), missing: $("missing").value, ...format()};
  const key = sensitive.length < 2 || $("groups").value ? "" : files.test.id + JSON.stringify(asked);
  if (key === counted) return;
  counted = key;
  const answer = key && await post(`files/${files.test.id}/columns`, asked).catch(() => null);
  if (key !== counted) return;
  const {groups, small, smallest} = answer || {small: 0};
  const few = `${count(small)} of them ${small === 1 ? "has" : "have"} fewer than ${SMALL} rows (the smallest: ${smallest}). ` +
    "So few rows seldom show a clear effect: put them together, take each column on its own, or leave a column out.";
  $("groups-why").textContent = answer ? `There are ${count(groups)} combinations. ${small ? few : ""}` : "";
}

const isCut = ({column, bins}) => columnOf(column).cuts.length && bins.trim();
const cutsOf = ({bins}) => bins.trim().split(/[\s,;]+/);

function limitKind() {
  if (isNumeric()) return LIMITS.means;
  const sizes = sensitive.map((entry) => {
    const {classes, missing} = columnOf(entry.column);
    const own = isCut(entry) ? cutsOf(entry).length + 1 : classes.length || Infinity;
    return own + (missing && $("missing").value === "group" ? 1 : 0);
  });
  const n = $("groups").value === "marginal" ? Math.max(...sizes) : sizes.reduce((all, own) => all * own, 1);
  return n > 2 || columnOf($("target").value)?.classes.length > 2 ? LIMITS.gaps : LIMITS.gap;
}

// With the number that was entered, or with an example until there is one.
function showLimit() {
  const {about, example, size, of, mean} = limitKind();
  const entered = $("limit").value.trim() && decimal($("limit").value);
  const limit = entered > 0 ? entered : example;
  const short = (n) => String(Number(n.toPrecision(12)));
  const gap = Math.max(size, Math.ceil(limit));
  $("limit-about").textContent = about;
  $("limit-example").textContent = `${entered > 0 ? "" : "For example, "}${short(limit)} means: ${of(gap)} may become ` +
    `${short(gap - limit)} to ${short(gap + limit)}${mean}.`;
}

function showStale() {
  clearMended();
  $("stale").hidden = $("result").hidden;
  keep();
}

// ------------------------------------------------------------------ a page that is loaded again

let kept = Promise.resolve();  // one after another, so that the last one stays

function keep() {
  const values = Object.fromEntries(FIELDS.map((id) => [id, $(id).value]));
  const state = {files, sensitive, values, numeric: $("numeric").checked, job: job && {...job, stale: !$("stale").hidden}};
  const body = JSON.stringify(state);
  kept = kept.then(() => fetch(`tabs/${TAB}`, {method: "PUT", body})).catch(() => null);
}

async function restore() {
  const state = await ask(`tabs/${TAB}`);
  if (!state?.files.test) return;
  Object.assign(files, state.files);
  sensitive = state.sensitive;
  Object.keys(files).forEach(showStatus);
  showFile();
  for (let times = 0; times < 2; times++) {  // what some fields offer depends on others
    for (const id of FIELDS) $(id).value = state.values[id];
    $("numeric").checked = state.numeric;
    changed();
  }
  const used = [...SINGLE.filter((id) => $(id).value), ...Object.keys(files).map((role) => `file-${role}`)];
  for (const id of used) $(id).closest("details")?.setAttribute("open", "");
  if (state.job) follow(job = state.job);
}

// ------------------------------------------------------------------ step 4: the command, and Python

const NEEDED = {
  target: "Choose the column with the label: what really happened.",
  prediction: "Choose the column with the prediction.",
  sensitive: "Choose a column whose groups are compared.",
  threshold: "Enter the score from which people are selected.",
  positive: "Choose the outcome that a high score stands for.",
  missing: "Choose what happens to rows without a value.",
};

const decimal = (text) => Number(text.trim().replace(",", "."));  // people may write a decimal comma

// A number as the command takes it.
function number(field, text, divisor = 1) {
  const value = decimal(text);
  if (!text.trim() || !Number.isFinite(value)) throw errorAt(field, `This must be a number, such as 0.5; it is “${text}”.`);
  if (divisor > 1 && !(value >= 0 && value <= 100)) throw errorAt(field, `These are percentage points, from 0 to 100; it is “${text}”.`);
  return String(Number((value / divisor).toPrecision(12)));
}

// The options of the command, each with its values.
function chosen() {
  const shown = (id) => ($(`${id}-field`)?.hidden ? "" : $(id).value);
  for (const [id, text] of Object.entries(NEEDED)) {
    const empty = id === "sensitive" ? !sensitive.length : !$(id).value.trim();
    if (empty && !$(`${id}-field`)?.hidden) throw errorAt(id, text);
  }
  const options = {};
  const add = (name, ...values) => { if (values[0]) options[name] = values; };
  add("target", shown("target"));
  add("prediction", ...[shown("prediction"), shown("second")].filter(Boolean));
  add("sensitive", ...sensitive.map(({column}) => column));
  add("bins", ...sensitive.filter(isCut).map((entry) =>
    `${entry.column}=${cutsOf(entry).map((cut) => number("sensitive", cut)).join(",")}`));
  for (const id of ["weight", "cluster", "positive", "missing", "favourable"]) add(id, shown(id));
  add(shown("groups") === SMALL ? "min-rows" : "groups", shown("groups"));
  for (const id of compares() ? [] : ["given", "score"]) add(id, shown(id));
  if (shown("threshold")) add("threshold", number("threshold", shown("threshold")));
  if (shown("limit").trim()) add("limit", number("limit", shown("limit"), limitKind().parts));
  if (isNumeric()) options.numeric = [];
  const usual = {delimiter: files.test.name.endsWith(".tsv") ? "\t" : ",", decimal: ".", encoding: "utf-8"};
  for (const [id, value] of Object.entries(format())) {
    if (value !== usual[id] || value !== files.test.proposed[id]) add(id, value === "\t" ? "tab" : value);
  }
  return {options, files: Object.fromEntries(Object.entries(files).map(([role, file]) => [role, file.id]))};
}

// The same audit as Python code. Texts, lists and dicts are written there as in JSON.
function python({names, models}, options) {
  const literal = JSON.stringify;
  const frames = {test: "rows", train: "training", other: "other"};
  const read = Object.entries({delimiter: "sep", encoding: "encoding", decimal: "decimal"})
    .filter(([option]) => option in options)
    .map(([option, name]) => `, ${name}=${literal(options[option][0].replace("tab", "\t"))}`).join("");
  const lines = ["import pandas", "import skbiasamp", ""];
  for (const [role, name] of Object.entries(names)) {
    lines.push(`${frames[role]} = ` + (name.endsWith(".parquet") ? `pandas.read_parquet(${literal(name)})`
      : `pandas.read_csv(${literal(name)}${read}, keep_default_na=False, na_values=[""], low_memory=False)`));
    for (const bins of role === "other" ? [] : options.bins ?? []) {
      const at = bins.lastIndexOf("=");
      const cuts = bins.slice(at + 1).split(",");
      const groups = cuts.map((cut, i) => (i ? `${cuts[i - 1]} to under ${cut}` : `under ${cut}`));
      const cell = `${frames[role]}[${literal(bins.slice(0, at))}]`;
      lines.push(`${cell} = pandas.cut(`, `    ${cell}, [-float("inf"), ${cuts.join(", ")}, float("inf")], right=False,`,
        `    labels=${literal([...groups, `${cuts.at(-1)} or more`])},`, ").astype(object)");
    }
  }
  const [column, second] = options.prediction;
  let prediction = second ? {[column]: column, [second]: second} : column;
  if (models.other) {
    prediction = Object.fromEntries(Object.values(models).map((model) => [model, `${column} of ${model}`]));
    for (const [role, model] of Object.entries(models)) {
      lines.push(`rows[${literal(prediction[model])}] = ${frames[role]}[${literal(column)}]`);
    }
  }
  const compared = typeof prediction !== "string";
  lines.push(`report = skbiasamp.${compared ? "compare" : "audit_frame"}(`, "    rows,",
    `    prediction=${literal(prediction)},`, `    sensitive=${literal(options.sensitive)},`);
  for (const id of ["target", "weight", "cluster", "given", "score", "missing", "groups", "positive", "favourable"]) {
    if (options[id]) lines.push(`    ${id === "positive" ? "pos_label" : id}=${literal(options[id][0])},`);
  }
  if (options["min-rows"]) lines.push(`    min_rows=${SMALL},`);
  for (const id of ["threshold", "limit"]) if (options[id]) lines.push(`    ${id}=${options[id][0]},`);
  if (options.numeric) lines.push("    auditor=skbiasamp.NumericAuditor(),");
  if (names.train) lines.push(`    ${compared ? "y_train" : "train"}=training,`);
  const data = models.other ? `${names.test}, ${names.other}` : names.test;
  lines.push("    random_state=0,", ")", `report.context["data_name"] = ${literal(data)}`,
    'report.to_html("report.html")');
  if (compared && options.limit) lines.push(`print(report.gate(${options.limit[0]}))`);
  return lines.join("\n");
}

// ------------------------------------------------------------------ step 4: the report

async function run() {
  clearErrors();
  $("run").disabled = true;  // a second press would start a second job
  try {
    const fields = chosen();
    const answer = await post("jobs", fields);
    job = {...answer, python: python(answer, fields.options)};
  } catch (error) {
    $("run").disabled = false;
    return error.field ? fail(error.field, error.message) : explain(error.message);
  }
  follow(job);
  $("cancel").focus();
  $("seconds").scrollIntoView({block: "nearest"});
}

function follow(mine) {
  keep();
  $("result").hidden = $("run").disabled = true;
  $("progress").hidden = $("cancel").hidden = false;
  const source = new EventSource(`jobs/${mine.id}/events`);
  const end = () => {
    source.close();
    $("run").disabled = false;
    $("progress").hidden = $("cancel").hidden = true;
  };
  source.onmessage = ({data}) => {
    const {state, text, percent, seconds} = JSON.parse(data);
    if (percent) $("bar").value = percent / 100;
    else $("bar").removeAttribute("value");
    const said = state === "failed" ? "" : text;
    if ($("status-run").textContent !== said) $("status-run").textContent = said;  // read aloud once
    $("seconds").textContent = said && `${seconds.toFixed(0)} s`;
    if (["done", "failed", "cancelled"].includes(state)) end();
    if (state === "done") show(mine);
    if (state === "failed") explain(text);
    if (state === "cancelled") $("run").focus();
  };
  source.onerror = () => {
    end();
    fail("run", GONE);
  };
}

function show({id, command, python, record, stale}) {
  for (const [kind, name] of [["html", "report.html"], ["json", "report.json"], ["markdown", "report.md"]]) {
    $(`save-${kind}`).href = `jobs/${id}/${name}?save`;
  }
  $("whole").href = $("report").src = `jobs/${id}/report.html`;
  $("command").textContent = `${command}\n# ${record}`;
  $("python").textContent = `${python}\n# ${record}`;
  $("record").textContent = record === "No limit was set." ? "" : record;  // which the report says
  $("copied").textContent = "";
  $("result").hidden = false;
  changed();
  $("stale").hidden = !stale;
  keep();
  $("title-4").focus();
  $("title-4").scrollIntoView();
}

// ------------------------------------------------------------------ listeners

for (const place of document.querySelectorAll(".drop")) {
  const {role} = place.dataset;
  $(`file-${role}`).addEventListener("change", ({target}) => {
    send(role, target.files[0]);
    target.value = "";  // so that the same file can be chosen again, after it was mended
  });
  place.addEventListener("drop", ({dataTransfer}) => send(role, dataTransfer.files[0]));
}
// A file that misses its place must not replace the page.
for (const type of ["dragover", "drop"]) addEventListener(type, (event) => event.preventDefault());
for (const id of FORMAT) $(id).addEventListener("change", reread);
for (const id of [...FIELDS, "numeric"]) $(id).addEventListener("input", changed);
$("add-sensitive").addEventListener("change", ({target}) => { use("sensitive", target.value); target.value = ""; changed(); });
$("use-all").addEventListener("click", useAll);
$("example").addEventListener("click", async () => {
  clearErrors();
  try { await received("test", await post("example", {})); } catch (error) { fail("test", error.message); }
});
$("run").addEventListener("click", run);
$("cancel").addEventListener("click", () => ask(`jobs/${job.id}`, {method: "DELETE"}));
for (const id of ["command", "python"]) $(`copy-${id}`).addEventListener("click", async () => {
  const isCopied = await navigator.clipboard.writeText($(id).textContent).then(() => true, () => false);
  $("copied").textContent = isCopied ? "Copied." : "Copy it from below.";
});
restore().catch((error) => fail("test", error.message));
