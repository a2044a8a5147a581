"use strict";
// The page of the app. What is chosen lives in the fields and in `state`; the server has files and reports.
const $ = (id) => document.getElementById(id);
const files = {};  // by role: {id, name, columns, ...}
let sensitive = [];  // [{column, bins}]
let job = null;
const SINGLE = ["target", "prediction", "second", "weight", "cluster", "given"];
const FORMAT = ["delimiter", "decimal", "encoding"];
const FIELDS = [...SINGLE, ...FORMAT, "threshold", "positive", "favourable", "missing", "groups", "limit"];

function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

// ------------------------------------------------------------------ errors at their field

function fail(field, text) {
  const place = $(`error-${field}`) ? field : "run";
  $(`error-${place}`).textContent = text;
  const input = $({sensitive: "add-sensitive", test: "file-test", train: "file-train", other: "file-other"}[place] ?? place);
  if (place !== "run") {
    input.setAttribute("aria-invalid", "true");
    input.setAttribute("aria-describedby", `error-${place}`);
  }
  for (let around = input.closest("details"); around; around = around.parentElement.closest("details")) around.open = true;
  input.closest("[hidden]")?.removeAttribute("hidden");
  input.focus();
}

function clearErrors() {
  for (const place of document.querySelectorAll(".error")) place.textContent = "";
  for (const input of document.querySelectorAll("[aria-invalid]")) input.removeAttribute("aria-invalid");
}

async function ask(path, options = {}) {
  let response;
  try {
    response = await fetch(path, options);
  } catch {
    throw {field: "run", text: "The app does not answer. Was it ended in its terminal? Start it again."};
  }
  if (response.status === 204) return null;
  const answer = await response.json().catch(() => ({error: `The app answered with ${response.status}.`}));
  if (!response.ok) throw {field: answer.field, text: answer.error};
  return answer;
}

const post = (path, fields) => ask(path, {method: "POST", body: JSON.stringify(fields)});

// ------------------------------------------------------------------ step 1: files

const uploads = {};

function send(role, file) {
  uploads[role]?.abort();
  const request = uploads[role] = new XMLHttpRequest();  // fetch does not say how much was sent
  request.open("POST", `files?name=${encodeURIComponent(file.name)}`);
  request.upload.onprogress = (event) => {
    $(`status-${role}`).textContent = `Copying ${file.name}: ${Math.round(100 * event.loaded / event.total)} %`;
  };
  request.onload = () => {
    let answer = {error: "The app does not answer."};
    try { answer = JSON.parse(request.responseText); } catch { /* an answer without text */ }
    if (request.status === 200) received(role, answer);
    else refuse(role, answer.error);
  };
  // A server that refuses a large file ends the connection before all of it was sent.
  request.onerror = () => refuse(role, `${file.name} was not taken. It may be too large or no table; or the app has ended.`);
  request.send(file);
}

function refuse(role, text) {
  $(`status-${role}`).textContent = files[role] ? `Still used: ${files[role].name}` : "";
  fail(role, text);
}

function take(role, list) {
  clearErrors();
  if (list.length) send(role, list[0]);
}

async function received(role, file) {
  const status = $(`status-${role}`);
  status.textContent = `Reading ${file.name} …`;
  try {
    const known = role === "test" ? {} : format();
    const described = await post(`files/${file.id}/columns`, known);
    if (files[role]) ask(`files/${files[role].id}`, {method: "DELETE"}).catch(() => null);
    files[role] = {...file, ...described};
    const rows = described.n_rows.toLocaleString("en");
    status.replaceChildren(`${file.name}: ${rows} rows, ${described.columns.length} columns. `);
    if (role !== "test") status.append(make("button", {type: "button", textContent: "Remove", onclick: () => remove(role)}));
    if (role === "test") showFile();
    changed();
  } catch (error) {
    ask(`files/${file.id}`, {method: "DELETE"}).catch(() => null);
    refuse(role, error.text);
  }
}

function remove(role) {
  ask(`files/${files[role].id}`, {method: "DELETE"}).catch(() => null);
  delete files[role];
  $(`status-${role}`).textContent = "";
  $(`file-${role}`).value = "";
  $(`file-${role}`).focus();
  changed();
}

const format = () => (files.test?.proposed.delimiter ? Object.fromEntries(FORMAT.map((name) => [name, $(name).value])) : {});

async function reread() {
  clearErrors();
  const wanted = format();
  try {
    const described = await post(`files/${files.test.id}/columns`, wanted);
    Object.assign(files.test, described, {proposed: files.test.proposed});
    showFile();
    changed();
  } catch (error) {
    fail("test", error.text);
  }
}

const signs = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"};

function showFile() {
  const file = files.test;
  for (const part of document.querySelectorAll(".known")) part.hidden = false;
  for (const part of document.querySelectorAll(".wait")) part.hidden = true;
  $("format").hidden = !file.format.delimiter;
  for (const name of FORMAT) {
    const value = file.format[name];
    if (value && ![...$(name).options].some((option) => option.value === value)) $(name).append(new Option(value, value));
    if (value) $(name).value = value;
  }
  const {delimiter, decimal, encoding} = file.proposed;
  $("format-why").textContent = delimiter ? `Proposed, from the first lines: ${signs[delimiter]} between cells, ` +
    `decimal ${decimal === "," ? "comma" : "point"}, ${encoding}. Change it if the table below looks wrong.` : "";
  const head = make("tr", {}, ...file.columns.map(({name}) => make("th", {scope: "col", textContent: name})));
  const body = file.rows.map((row) => make("tr", {}, ...row.map((cell) => make("td", {textContent: cell}))));
  $("rows").tHead.replaceChildren(head);
  $("rows").tBodies[0].replaceChildren(...body);
  const names = file.columns.map(({name}) => name);
  for (const id of [...SINGLE, "add-sensitive"]) {
    const kept = $(id).value;
    const first = {second: "none", weight: "none", cluster: "none", given: "none", "add-sensitive": "add a column"}[id];
    $(id).replaceChildren(new Option(first ?? "please choose", ""), ...names.map((name) => new Option(name, name)));
    if (names.includes(kept)) $(id).value = kept;  // what was chosen for a file of the same kind stays
  }
  sensitive = sensitive.filter(({column}) => names.includes(column));
  showProposals();
}

// ------------------------------------------------------------------ step 2: roles

const columnOf = (name) => files.test?.columns.find((column) => column.name === name);

function showProposals() {
  for (const place of document.querySelectorAll("[data-proposal]")) {
    const role = place.dataset.proposal;
    const proposals = files.test.roles[role];
    place.replaceChildren(...(proposals.length ? ["Proposal: "] : []), ...proposals.slice(0, 6).flatMap(({column, why}) => [
      make("button", {type: "button", textContent: `Use ${column}`, onclick: () => use(role, column)}), ` ${why}. `,
    ]));
  }
}

function use(role, column) {
  if (role === "sensitive") addSensitive(column);
  else $(role).value = column;
  changed();
}

function addSensitive(column) {
  if (!column || sensitive.some((known) => known.column === column)) return;
  sensitive.push({column, bins: ""});
}

function useAll() {
  for (const role of ["target", "prediction"]) {
    const first = files.test.roles[role].find(({column}) => column !== $("target").value);
    if (first && !$(role).value) $(role).value = first.column;
  }
  for (const {column} of files.test.roles.sensitive) addSensitive(column);
  changed();
}

function showSensitive() {
  $("sensitive").replaceChildren(...sensitive.map((entry, i) => {
    const known = columnOf(entry.column);
    const item = make("li", {}, make("b", {textContent: entry.column}), `${known.says} `, make("button", {
      type: "button", textContent: "Remove", ariaLabel: `Remove ${entry.column}`,
      onclick: () => { sensitive.splice(i, 1); changed(); $("add-sensitive").focus(); },
    }));
    if (known.number && (known.range[1] - known.range[0] > 10 || known.classes.length > 10 || !known.classes.length)) {
      const input = make("input", {id: `bins-${i}`, value: entry.bins, autocomplete: "off", placeholder: "such as 25, 40"});
      input.addEventListener("input", () => { entry.bins = input.value; touched(); });
      const label = make("label", {htmlFor: `bins-${i}`, textContent: `Cut ${entry.column} into groups at these numbers (empty: each number is a group)`});
      item.append(label, input);
    }
    return item;
  }));
}

const hide = (id, hidden) => { $(`${id}-field`).hidden = hidden; };

function options(id, first, values) {
  const kept = $(id).value;
  $(id).replaceChildren(new Option(first, ""), ...values.map((value) => new Option(value, value)));
  if (values.includes(kept)) $(id).value = kept;
}

// Fields that depend on others come and go; what they hold stays.
function changed() {
  if (!files.test) return;
  const [target, prediction] = [columnOf($("target").value), columnOf($("prediction").value)];
  const numbers = target?.number && !target.classes.length;
  hide("numeric", !(target?.number && target.classes.length !== 2));
  $("numeric-why").textContent = numbers ? `Proposal: yes. ${target.name} has ${target.says}.` : "";
  const numeric = $("numeric").checked && !$("numeric-field").hidden;
  const scored = !numeric && prediction?.number && target?.classes.length === 2 && prediction.classes.length !== 2;
  hide("threshold", !scored);
  if (scored) $("threshold-why").textContent = `${prediction.name} is a score: ${prediction.says}. ` +
    "At which score is somebody selected? Use the one that is used in practice.";
  hide("positive", !(scored && target.classes.join() !== "0,1"));
  options("positive", "please choose", target?.classes ?? []);
  hide("favourable", numeric || !target?.classes.length || compares());
  options("favourable", "I do not know, or it depends", target?.classes ?? []);
  const lacking = sensitive.map(({column}) => columnOf(column)).filter(({missing}) => missing);
  hide("missing", !lacking.length);
  $("missing-why").textContent = lacking.map(({name, missing}) => `${name}: ${missing.toLocaleString("en")} rows`).join(", ");
  hide("groups", sensitive.length < 2);
  $("limit-unit").textContent = numeric ? "the unit of the label" : "percentage points";
  showSensitive();
  const roles = $("target").value && $("prediction").value && sensitive.length;
  [files.test, roles, roles && $("limit").value, !$("result").hidden].forEach((done, i) => {
    document.querySelectorAll("nav a")[i].classList.toggle("done", Boolean(done));
  });
  touched();
}

const compares = () => Boolean(files.other || $("second").value);

function touched() {
  $("stale").hidden = $("result").hidden;
}

// ------------------------------------------------------------------ step 4: the report

function chosen() {
  const fields = Object.fromEntries(FIELDS.map((id) => [id, $(`${id}-field`)?.hidden ? "" : $(id).value]));
  if (!files.test.format.delimiter) for (const name of FORMAT) fields[name] = "";
  fields.numeric = $("numeric").checked && !$("numeric-field").hidden;
  const ids = Object.fromEntries(Object.entries(files).map(([role, file]) => [role, file.id]));
  return {...fields, sensitive, proposed: files.test.proposed, files: ids};
}

const NEEDED = {
  threshold: "Enter the score from which people are selected.",
  positive: "Choose the outcome that a high score stands for.",
  missing: "Choose what happens to rows without a value.",
};

async function run() {
  clearErrors();
  const fields = chosen();
  for (const [id, text] of Object.entries(NEEDED)) {
    if (!$(`${id}-field`).hidden && !fields[id]) return fail(id, text);
  }
  try {
    job = await post("jobs", fields);
  } catch (error) {
    return fail(error.field || "run", error.text);
  }
  $("result").hidden = true;
  $("run").disabled = true;
  $("progress").hidden = $("cancel").hidden = false;
  $("status-run").scrollIntoView({block: "nearest"});
  follow(job);
}

function follow(mine) {
  const source = new EventSource(`jobs/${mine.id}/events`);
  const end = () => {
    source.close();
    $("run").disabled = false;
    $("progress").hidden = $("cancel").hidden = true;
  };
  source.onmessage = ({data}) => {
    const {state, text, percent, seconds, field} = JSON.parse(data);
    if (percent) $("bar").value = percent / 100;
    else $("bar").removeAttribute("value");
    $("status-run").textContent = state === "failed" ? "" : `${text} (${seconds.toFixed(0)} s)`;
    if (state === "done") show(mine);
    if (state === "failed") fail(field, text);
    if (["done", "failed", "cancelled"].includes(state)) end();
  };
  source.onerror = () => {
    end();
    fail("run", "The app does not answer. Was it ended in its terminal? Start it again.");
  };
}

function show({id, command, python, record}) {
  for (const [kind, name] of [["html", "report.html"], ["json", "report.json"], ["markdown", "report.md"]]) {
    $(`save-${kind}`).href = `jobs/${id}/${name}?save`;
  }
  $("whole").href = $("report").src = `jobs/${id}/report.html`;
  $("command").textContent = `${command}\n# ${record}`;
  $("python").textContent = `${python}\n# ${record}`;
  $("record").textContent = record;
  $("copied").textContent = "";
  $("result").hidden = false;
  changed();
  $("stale").hidden = true;
  $("result").scrollIntoView({block: "start"});
}

async function copy(id) {
  try {
    await navigator.clipboard.writeText($(id).textContent);
    $("copied").textContent = "Copied.";
  } catch {
    $("command").closest("details").open = true;
    getSelection().selectAllChildren($(id));
    $("copied").textContent = "Selected below: copy it with the keyboard.";
  }
}

// ------------------------------------------------------------------ listeners

for (const place of document.querySelectorAll(".drop")) {
  const {role} = place.dataset;
  $(`file-${role}`).addEventListener("change", (event) => take(role, event.target.files));
  place.addEventListener("dragover", (event) => { event.preventDefault(); place.classList.add("over"); });
  place.addEventListener("dragleave", () => place.classList.remove("over"));
  place.addEventListener("drop", (event) => {
    event.preventDefault();
    place.classList.remove("over");
    take(role, event.dataTransfer.files);
  });
}
// A file that misses its place must not replace the page.
for (const type of ["dragover", "drop"]) addEventListener(type, (event) => event.preventDefault());
for (const id of FORMAT) $(id).addEventListener("change", reread);
for (const id of [...SINGLE, "numeric"]) $(id).addEventListener("change", changed);
for (const id of ["threshold", "positive", "favourable", "missing", "groups", "limit"]) $(id).addEventListener("input", changed);
$("add-sensitive").addEventListener("change", ({target}) => { addSensitive(target.value); target.value = ""; changed(); });
$("use-all").addEventListener("click", useAll);
$("example").addEventListener("click", async () => {
  clearErrors();
  try { await received("test", await post("example", {})); } catch (error) { fail("test", error.text); }
});
$("run").addEventListener("click", run);
$("cancel").addEventListener("click", () => ask(`jobs/${job.id}`, {method: "DELETE"}));
$("copy-command").addEventListener("click", () => copy("command"));
$("copy-python").addEventListener("click", () => copy("python"));
