// The page of runs. Its address says what it shows: nothing more for the list, ?run=… for a run, several of these to compare, ?start
// for the form. How things stand comes as server-sent events; whatever changed is shown again.
// Text goes into the page as text (textContent) alone. The one exception is a report: markup that the server made, escaped there.
'use strict';
(() => {
  const asked = new URLSearchParams(location.search);
  const chosen = asked.getAll('run');
  const kind = asked.has('start') ? 'start' : chosen.length > 0 ? 'view' : 'list';
  const at = id => document.getElementById(id);
  at(kind).hidden = false;

  // --- Small helpers

  function make(tag, properties = {}, ...children) {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  }

  function tell(element, text) {
    element.textContent = text;
    element.hidden = text === '';
  }

  const addressOf = ids => '/?' + ids.map(id => 'run=' + encodeURIComponent(id)).join('&');

  async function ask(path, message) {
    const answer = await fetch(path, message && {method: 'POST', body: JSON.stringify(message)});
    const told = await answer.json();
    if (!answer.ok) throw new Error(told.error);
    return told;
  }

  // A button that does something once, and says what went wrong.
  function action(name, path, message) {
    const button = make('button', {type: 'button', textContent: name});
    button.addEventListener('click', async () => {
      button.disabled = true;
      tell(at('problem'), '');
      try {
        await ask(path, message);
      } catch (refused) {
        button.disabled = false;
        tell(at('problem'), refused.message);
      }
    });
    return button;
  }

  const actionsOf = run =>
    run.state === 'training'
      ? [action('Stop', '/stop', {run: run.id})]
      : run.resumable && !trainings.some(training => training.run === run.id && training.state !== 'failed')
        ? [action('Resume', '/resume', {run: run.id})]
        : [];

  const pill = state => make('span', {className: 'status ' + state, textContent: state});

  // --- How things stand

  let runs = [];
  let trainings = [];

  const events = new EventSource('/events');
  const connection = (state, text) => {
    at('connection').className = 'hint ' + state;
    at('connection').textContent = text;
  };
  events.onopen = () => connection('live', 'live');
  events.onerror = () =>
    connection('lost', events.readyState === EventSource.CLOSED ? 'ended: open the address that espalier ui prints' : 'lost, trying again …');
  events.onmessage = event => {
    const state = JSON.parse(event.data);
    runs = state.runs;
    trainings = state.trainings;
    at('folder').textContent = state.folder;
    if (state.problem) tell(at('problem'), state.problem);
    showTrainings();
    if (kind === 'list') showList();
    if (kind === 'view') showView();
  };

  // --- Trainings that were started here and are not in the list: to come, just begun, or failed

  let shownTrainings = '';

  function showTrainings() {
    const known = new Set(runs.map(run => run.id));
    const listed = trainings.filter(training => training.state !== 'running' || !known.has(training.run));
    const text = JSON.stringify(listed);
    if (text === shownTrainings) return;
    shownTrainings = text;
    at('trainings').hidden = listed.length === 0;
    const waiting = listed.filter(training => training.state === 'waiting');
    const describe = training =>
      ({
        waiting: `waits for its turn, number ${waiting.indexOf(training) + 1} in the line`,
        running: 'begins: data and model are read',
        failed: training.message,
      })[training.state];
    const verbs = {waiting: 'Remove', running: 'Stop', failed: 'Dismiss'};
    at('trainings').replaceChildren(
      ...listed.map(training =>
        make(
          'article',
          {},
          make('strong', {textContent: training.name}),
          pill(training.state === 'running' ? 'training' : training.state === 'waiting' ? 'stopped' : 'failed'),
          make('p', {textContent: describe(training)}),
          action(verbs[training.state], '/cancel', {id: training.id}),
        ),
      ),
    );
    at('trainings')
      .querySelectorAll('.status.stopped')
      .forEach(waits => (waits.textContent = 'waiting'));
  }

  // --- The list

  const rows = new Map();
  const compared = new Set();

  function showList() {
    const count = state => runs.filter(run => run.state === state).length;
    at('count').textContent =
      `${runs.length} ${runs.length === 1 ? 'run' : 'runs'}` +
      ['training', 'finished', 'stopped', 'failed', 'broken']
        .filter(state => count(state) > 0)
        .map(state => ` · ${count(state)} ${state}`)
        .join('');
    const body = at('runs');
    if (runs.length === 0) {
      const cell = make('td', {className: 'empty', colSpan: 9}, 'No runs here yet. ', make('a', {href: '/?start', textContent: 'Start one'}), ', or train with ');
      cell.append(make('code', {textContent: './espalier train RECIPE.toml'}), ' in this folder: it shows up by itself.');
      body.replaceChildren(make('tr', {}, cell));
      rows.clear();
      return;
    }
    const ids = new Set(runs.map(run => run.id));
    [...rows.keys()].filter(id => !ids.has(id)).forEach(id => {
      rows.delete(id);
      compared.delete(id);
    });
    for (const run of runs) {
      const text = JSON.stringify([run, actionsOf(run).length]);
      if (rows.get(run.id)?.text !== text) replaceRow(run, text);
    }
    const wanted = runs.flatMap(run => rows.get(run.id).parts);
    if (wanted.length !== body.children.length || wanted.some((row, i) => row !== body.children[i])) body.replaceChildren(...wanted);
    showChoice();
  }

  // A row for the run, and below it one for what went wrong.
  function replaceRow(run, text) {
    const row = rowOf(run);
    const old = rows.get(run.id)?.parts ?? [];
    if (old.length > 0) {
      const focused = [...old[0].querySelectorAll('a, button, input')].indexOf(document.activeElement);
      old[0].replaceWith(row);
      if (focused >= 0) row.querySelectorAll('a, button, input')[focused]?.focus();
    }
    const problem = run.problem ? [make('tr', {className: 'problem'}, make('td'), make('td', {className: 'words', colSpan: 8, textContent: run.problem}))] : [];
    rows.set(run.id, {parts: [row, ...problem], text});
  }

  function rowOf(run) {
    const slash = run.id.lastIndexOf('/');
    const box = make('input', {type: 'checkbox', checked: compared.has(run.id), ariaLabel: 'Compare ' + run.id, disabled: run.state === 'broken'});
    box.addEventListener('change', () => {
      compared[box.checked ? 'add' : 'delete'](run.id);
      showChoice();
    });
    const name = make('th', {scope: 'row', className: 'words'}, make('a', {href: addressOf([run.id]), textContent: run.id.slice(slash + 1)}));
    if (slash > 0) name.append(make('small', {textContent: run.id.slice(0, slash)}));
    const state = make('td', {className: 'words'}, pill(run.state));
    if (run.state === 'training' || run.state === 'stopped') {
      const epoch = Math.floor(run.epoch);
      state.append(make('small', {textContent: run.epochs ? `epoch ${epoch} of ${run.epochs}` : `epoch ${epoch}`}));
      if (run.state === 'training' && run.epochs) state.append(make('progress', {max: run.epochs, value: run.epoch, ariaLabel: 'Epochs'}));
    }
    const number = (value, unit) => {
      const cell = make('td', {textContent: value || '–'});
      if (value && unit) cell.append(make('small', {textContent: unit}));
      return cell;
    };
    return make(
      'tr',
      {},
      make('td', {}, box),
      name,
      state,
      make('td', {className: 'words'}, spark(run)),
      number(run.score, run.metric),
      number(run.groupsLeft),
      number(run.parametersLeft),
      make('td', {}, when(run.started)),
      make('td', {}, ...actionsOf(run)),
    );
  }

  function when(started) {
    const time = new Date(started);
    return Number.isNaN(time.getTime())
      ? '–'
      : make('time', {dateTime: started, textContent: time.toLocaleString('en-GB', {dateStyle: 'medium', timeStyle: 'short'})});
  }

  // A curve as small as a word.
  function spark(run) {
    if (run.curve.length < 2) return '';
    const svg = (tag, attributes) => {
      const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
      Object.entries(attributes).forEach(([name, value]) => element.setAttribute(name, value));
      return element;
    };
    const [low, high] = [Math.min(...run.curve), Math.max(...run.curve)];
    // While it trains, there is room for what is to come.
    const share = run.state === 'training' && run.epochs ? Math.min(run.epoch / run.epochs, 1) : 1;
    const points = run.curve.map((value, i) => [
      ((112 * i) / (run.curve.length - 1)) * share,
      high === low ? 14 : 26 - (24 * (value - low)) / (high - low),
    ]);
    const picture = svg('svg', {viewBox: '0 0 112 28', class: 'spark', role: 'img', 'aria-label': `${run.metric} over ${run.curve.length} evaluations`});
    const [x, y] = points.at(-1);
    picture.append(svg('polyline', {points: points.map(point => point.map(value => value.toFixed(1)).join(',')).join(' ')}), svg('circle', {cx: x, cy: y, r: 2}));
    return picture;
  }

  function showChoice() {
    at('compare').disabled = compared.size < 2;
    at('choice').textContent = compared.size < 2 ? 'Choose two or more to compare.' : `${compared.size} chosen.`;
  }

  at('compare').addEventListener('click', () => {
    location.href = addressOf(runs.map(run => run.id).filter(id => compared.has(id)));
  });

  // --- One run, or several side by side

  let shownVersion = null;
  let loading = false;

  function showView() {
    const found = chosen.map(id => runs.find(run => run.id === id));
    showDoing(found);
    if (found.some(run => !run)) {
      const missing = chosen.find(id => !runs.some(run => run.id === id));
      const own = trainings.find(training => training.run === missing);
      if (shownVersion === null && !own) {
        at('report').replaceChildren(make('h1', {textContent: missing}), make('p', {className: 'note', textContent: 'There is no such run here: it may have been moved or deleted.'}));
      } else if (shownVersion === null) {
        at('report').replaceChildren(make('h1', {textContent: missing}), make('p', {className: 'subtitle', textContent: own.state === 'failed' ? 'It did not begin: see above.' : 'It begins …'}));
      }
      return;
    }
    const version = found.map(run => run.version).join('|');
    if (version !== shownVersion && !loading) load(version);
    const status = at('report').querySelector('h1 .status');
    if (status && found.length === 1) Object.assign(status, {className: 'status ' + found[0].state, textContent: found[0].state});
  }

  let shownDoing = '';

  function showDoing(found) {
    const text = JSON.stringify([found.map(run => run && [run.state, run.resumable, run.report]), runs.map(run => run.id), trainings]);
    if (text === shownDoing) return;
    shownDoing = text;
    const parts = [];
    if (found.length === 1 && found[0]) {
      parts.push(...actionsOf(found[0]));
      if (found[0].report) parts.push(make('a', {href: '/report?run=' + encodeURIComponent(found[0].id), textContent: 'report.html', target: '_blank', rel: 'noopener'}));
    }
    const others = runs.filter(run => !chosen.includes(run.id) && run.state !== 'broken');
    if (others.length > 0) {
      const select = make('select', {ariaLabel: 'Compare with'}, make('option', {textContent: 'Compare with …', value: ''}));
      others.forEach(run => select.append(make('option', {textContent: run.id, value: run.id})));
      select.addEventListener('change', () => select.value && (location.href = addressOf([...chosen, select.value])));
      parts.push(select);
    }
    at('doing').replaceChildren(...parts);
  }

  async function load(version) {
    loading = true;
    const begun = performance.now();
    try {
      const view = await ask('/view?' + chosen.map(id => 'run=' + encodeURIComponent(id)).join('&'));
      document.title = view.title;
      espalierReport.replace(at('report'), view.content);
      espalierReport.show(view.charts);
      showOutput(view.output);
      if (shownVersion === null && location.hash) document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView();
    } catch (refused) {
      if (shownVersion === null) at('report').replaceChildren(make('h1', {textContent: chosen.join(', ')}));
      tell(at('problem'), refused.message);
    }
    shownVersion = version;
    showView();
    // It may have gone on meanwhile. However long the report is, most of the time is left for other things.
    setTimeout(() => {
      loading = false;
      showView();
    }, 3 * (performance.now() - begun));
  }

  function showOutput(text) {
    const place = at('output').querySelector('pre');
    const following = place.scrollTop + place.clientHeight >= place.scrollHeight - 4;
    at('output').hidden = text === '';
    place.textContent = text;
    if (following) place.scrollTop = place.scrollHeight;
  }

  // --- The form

  async function prepareForm() {
    document.title = 'Start a training · Espalier';
    const recipes = await ask('/recipes');
    const select = at('recipe');
    recipes.forEach((recipe, i) => select.append(make('option', {textContent: recipe.file, value: String(i)})));
    select.append(make('option', {textContent: 'a new one, written below', value: ''}));
    const change = () => {
      const recipe = select.value === '' ? null : recipes[Number(select.value)];
      at('naming').hidden = recipe !== null;
      at('text').readOnly = recipe !== null;
      // What was copied from stays, to begin a new one with.
      if (recipe) at('text').value = recipe.text;
      at('text-hint').textContent = recipe ? 'To change single values, say them below; for more, choose a new one: this text stays to begin with.' : 'It is saved beside the other recipes.';
    };
    select.addEventListener('change', change);
    change();
    at('form').addEventListener('submit', async event => {
      event.preventDefault();
      const submit = at('form').querySelector('button');
      submit.disabled = true;
      tell(at('mistakes'), '');
      try {
        const training = await ask('/start', {
          recipe: select.value === '' ? '' : recipes[Number(select.value)].file,
          name: at('name').value,
          text: at('text').value,
          overrides: at('overrides').value,
          keep: at('keep').value,
          baseline: at('baseline').checked,
        });
        location.href = training.run ? addressOf([training.run]) : '/';
      } catch (refused) {
        tell(at('mistakes'), refused.message);
        submit.disabled = false;
      }
    });
  }

  if (kind === 'start') prepareForm().catch(refused => tell(at('problem'), refused.message));
})();
