// The search finds guides before entries of the reference and pages of the gallery.
var Scorer = {
  score: ([docname, title, anchor, descr, score]) =>
    /^(generated|auto_examples)\//.test(docname) ? score - 20 : score,
  // The rest is as Sphinx has it.
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
