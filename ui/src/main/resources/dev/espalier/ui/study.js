// Keeps the page of a study as it is now. What it says is made by the server; what the reader has chosen, sorted or scrolled to stays.
'use strict';
(() => {
  const connection = document.getElementById('connection');
  const say = (state, text) => {
    connection.className = 'hint ' + state;
    connection.textContent = text;
  };
  let newest = null;
  let resting = false;

  function update() {
    if (newest === null || resting) return;
    const view = newest;
    newest = null;
    resting = true;
    const begun = performance.now();
    document.title = view.title;
    espalierReport.replace(document.getElementById('report'), view.content);
    espalierReport.show(view.charts);
    // However large the study is, most of the time is left for whoever reads.
    setTimeout(() => {
      resting = false;
      update();
    }, 5 * (performance.now() - begun));
  }

  const events = new EventSource('/events');
  events.onopen = () => say('live', 'live');
  events.onerror = () =>
    say('lost', events.readyState === EventSource.CLOSED ? 'ended: study.html in the study’s folder shows how it stands' : 'lost, trying again …');
  events.onmessage = event => {
    newest = JSON.parse(event.data);
    update();
  };
})();
