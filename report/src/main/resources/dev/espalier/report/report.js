// Draws the charts of a report. What they show is in the element "charts"; here is how it looks.
// Colours are CSS variables: light, dark and print are decided in the style sheet alone.
'use strict';
(() => {
  const SANS = getComputedStyle(document.documentElement).getPropertyValue('--sans').trim();
  const PHASES = ['warm-up', 'sparsify', 'heal'];
  const DASHES = 'path://M0 0h4v2h-4zM6 0h4v2h-4zM12 0h4v2h-4z';

  // --- Numbers and words

  const percent = share => (100 * share).toFixed(1) + ' %';
  const digits = (number, count, smallest = 1e-3) => {
    if (number === 0) return '0';
    const size = Math.abs(number);
    if (size < smallest || size >= 1e6) return number.toExponential(count - 1).replace(/\.?0+e/, 'e').replace('e+', 'e');
    return String(Number(number.toPrecision(Math.max(count, Math.ceil(Math.log10(size))))));
  };
  const FORMATS = {
    PERCENT: percent,
    NUMBER: number => digits(number, 4),
    COUNT: number => Math.round(number).toLocaleString('en'),
  };
  // On axes there is no room for more digits than are needed.
  const AXIS_FORMATS = {
    PERCENT: share => Number((100 * share).toFixed(2)) + ' %',
    NUMBER: number => digits(number, 3, 1e-4),
    COUNT: number => Math.round(number).toLocaleString('en'),
  };
  const large = number => {
    const units = ['', ' k', ' M', ' G'];
    let unit = 0;
    for (; number >= 1000 && unit < units.length - 1; unit++) number /= 1000;
    return digits(number, 3) + units[unit];
  };
  const short = number => (Math.abs(number) < 1e4 ? digits(number, 3) : (number < 0 ? '-' : '') + large(Math.abs(number)));
  const escaped = text => echarts.format.encodeHTML(text);
  const ending = (name, length) => (name.length > length ? '…' + name.slice(1 - length) : name);
  const colour = number => `var(--series-${number})`;

  // --- What all charts have in common

  const text = {color: 'var(--muted)', fontSize: 12, fontFamily: SANS};

  const isDashed = (lines, name) => lines.some(line => line.name === name && line.stroke === 'DASHED');
  const legendOf = (lines, names, show) => ({
    show,
    type: 'scroll',
    left: 0,
    top: 0,
    padding: 0,
    itemGap: 16,
    itemWidth: 16,
    itemHeight: 2,
    textStyle: text,
    inactiveColor: 'var(--rule)',
    data: names.map(name => ({name, icon: isDashed(lines, name) ? DASHES : 'rect'})),
  });
  const axis = options => ({
    axisLine: {lineStyle: {color: 'var(--rule)'}},
    axisTick: {show: false},
    axisLabel: {...text, hideOverlap: true, formatter: options.formatter},
    splitLine: {lineStyle: {color: 'var(--grid)'}},
    nameTextStyle: text,
    nameLocation: 'middle',
    ...options,
  });
  // Shares: from one round number to another, never beyond all. ECharts would go past 100 %.
  const shareAxis = shares => {
    const [low, high] = [Math.min(...shares), Math.max(...shares)];
    const interval = high === low ? 0.1 : [0.002, 0.005, 0.01, 0.02, 0.05, 0.1].find(step => high - low <= 4 * step) ?? 0.2;
    const max = Math.min(Math.ceil(high / interval - 1e-6) * interval, 1);
    const min = Math.floor(low / interval + 1e-6) * interval;
    return {interval, max, min: min < max ? min : max - interval};
  };
  const tooltip = options => ({
    className: 'tooltip',
    confine: true,
    appendToBody: false,
    transitionDuration: 0,
    backgroundColor: 'var(--surface)',
    borderColor: 'var(--rule)',
    padding: [6, 10],
    textStyle: {...text, color: 'var(--ink)'},
    ...options,
  });
  const rows = entries =>
    '<table>' +
    entries
      .map(([mark, name, value]) => `<tr><td>${mark ? `<i style="background:${mark}"></i>` : ''}${escaped(name)}</td><td>${escaped(value)}</td></tr>`)
      .join('') +
    '</table>';
  const box = (heading, entries) => `<p>${escaped(heading)}</p>${rows(entries)}`;

  // --- The kinds of charts: from a description to ECharts' options

  function lines(chart) {
    const bandOf = x => chart.bands.find(band => x > band.from && x <= band.to);
    const names = [...new Set(chart.lines.map(line => line.name))];
    const legend = names.length > 1;
    const phaseColour = name => `var(--phase-${PHASES.includes(name) ? PHASES.indexOf(name) : PHASES.length})`;
    const series = chart.lines.map(line => ({
      type: 'line',
      name: line.name,
      data: line.points,
      dimensions: ['epoch', 'value', 'deviation'],
      encode: {x: 0, y: 1},
      color: colour(line.colour),
      showSymbol: line.points.length === 1,
      symbol: 'circle',
      symbolSize: 6,
      emphasis: {disabled: true},
      silent: true,
      // What holds for a point holds for the time since the one before.
      step: chart.stepped ? 'start' : false,
      z: line.stroke === 'SOLID' ? 5 - Math.min(line.colour, 1) : 3,
      lineStyle: {
        color: colour(line.colour),
        width: line.stroke === 'FAINT' ? 1 : 2,
        opacity: line.stroke === 'FAINT' ? 0.35 : 1,
        type: line.stroke === 'DASHED' ? [5, 4] : 'solid',
      },
    }));
    if (chart.bands.length > 0) {
      series[0].markArea = {
        silent: true,
        data: chart.bands.map(band => [
          {
            name: band.name,
            xAxis: band.from,
            itemStyle: {color: phaseColour(band.name)},
            label: {...text, fontSize: 11, position: 'top', distance: 5},
          },
          {xAxis: band.to},
        ]),
      };
    }
    const values = chart.lines.flatMap(line => line.points.map(point => point[1])).filter(value => value !== null);
    const last = Math.max(...chart.lines.flatMap(line => line.points.map(point => point[0])));
    return {
      grid: {left: 4, right: 14, top: (legend ? 26 : 4) + (chart.bands.length > 0 ? 22 : 4), bottom: 24, containLabel: true},
      legend: legendOf(chart.lines, names, legend),
      xAxis: axis({type: 'value', name: 'epoch', nameGap: 24, min: 0, max: last, splitLine: {show: false}}),
      yAxis: axis({
        type: chart.logarithmic ? 'log' : 'value',
        scale: true,
        axisLine: {show: false},
        splitNumber: 4,
        formatter: AXIS_FORMATS[chart.format],
        ...(chart.format === 'PERCENT' ? shareAxis(values) : {}),
      }),
      tooltip: tooltip({
        trigger: 'axis',
        axisPointer: {lineStyle: {color: 'var(--muted)', type: 'solid', opacity: 0.5}},
        formatter: found => {
          const x = found[0].axisValue;
          const band = bandOf(x);
          const entries = found
            .filter(entry => chart.lines[entry.seriesIndex].stroke !== 'FAINT' && entry.value[1] !== null)
            .map(entry => {
              const format = FORMATS[chart.format];
              const [, value, deviation] = entry.value;
              const spread = Number.isFinite(deviation) ? ' ± ' + format(deviation) : '';
              return [colour(chart.lines[entry.seriesIndex].colour), entry.seriesName, format(value) + spread];
            });
          return box(`epoch ${digits(x, 4)}${band ? ' · ' + band.name : ''}`, entries);
        },
      }),
      series,
    };
  }

  function points(chart) {
    const known = chart.points.filter(point => point.x > 0 && point.y !== null);
    const low = Math.min(...known.map(point => point.x));
    const scores = known.map(point => point.y).concat(chart.baseline ?? []);
    const share = chart.format === 'PERCENT';
    const write = FORMATS[chart.format];
    const margin = (share ? 0.001 : 0) + (Math.max(...scores) - Math.min(...scores)) / 20;
    return {
      grid: {left: 8, right: 40, top: 24, bottom: 30, containLabel: true},
      xAxis: axis({
        type: 'log',
        name: 'parameters kept',
        nameGap: 30,
        // Halves: 100 %, 50 %, 25 %, …
        logBase: 2,
        min: Math.pow(2, Math.floor(Math.log2(low) - 0.1)),
        max: 1,
        splitLine: {lineStyle: {color: 'var(--grid)'}},
        formatter: share => digits(100 * share, 3) + ' %',
      }),
      yAxis: axis({
        type: 'value',
        ...(share
          ? shareAxis([...scores, Math.min(...scores) - margin, Math.min(Math.max(...scores) + margin, 1)])
          : {scale: true, boundaryGap: ['10%', '10%']}),
        name: chart.score,
        nameLocation: 'end',
        nameGap: 10,
        nameTextStyle: {...text, align: 'left'},
        axisLine: {show: false},
        formatter: AXIS_FORMATS[chart.format],
      }),
      tooltip: tooltip({
        trigger: 'item',
        formatter: entry => {
          const point = known[entry.dataIndex];
          const spread = point.deviation === null ? '' : ' ± ' + write(point.deviation);
          const table = rows([
            ['', chart.score, write(point.y) + spread],
            ['', 'parameters kept', percent(point.x)],
          ]);
          return `<p>${escaped(point.name)}</p>${table}${point.details ? escaped(point.details) : ''}`;
        },
      }),
      series: [
        {
          type: 'line',
          data: known.map(point => ({
            value: [point.x, point.y],
            itemStyle: {color: colour(point.colour), borderColor: 'var(--surface)', borderWidth: 1.5},
          })),
          symbol: 'circle',
          symbolSize: 10,
          emphasis: {disabled: true},
          lineStyle: {color: colour(0), width: chart.joined ? 2 : 0},
          label: {
            ...text,
            show: true,
            // Below and to the right, where a curve of size against score leaves room.
            position: [7, 14],
            formatter: entry => ending(known[entry.dataIndex].name, 28),
          },
          labelLayout: {hideOverlap: true},
          markLine:
            chart.baseline === null
              ? undefined
              : {
                  silent: true,
                  symbol: 'none',
                  precision: 6,
                  lineStyle: {color: colour(7), type: [5, 4]},
                  label: {...text, position: 'insideStartTop', formatter: 'original, ' + write(chart.baseline)},
                  data: [{yAxis: chart.baseline}],
                },
        },
      ],
    };
  }

  function heatMap(chart) {
    const cells = chart.cells.flatMap((row, y) =>
      row.map((share, x) => ({
        value: [x, y, share],
        itemStyle: {color: colour(0), opacity: share === 0 ? 0 : 0.12 + 0.88 * share},
      })),
    );
    return {
      height: 44 + 20 * chart.rows.length,
      grid: {left: 4, right: 14, top: 4, bottom: 24, containLabel: true},
      xAxis: axis({
        type: 'category',
        name: 'epoch',
        nameGap: 24,
        data: chart.columns.map(epoch => digits(epoch, 4)),
        splitLine: {show: false},
        axisLine: {show: false},
      }),
      yAxis: axis({
        type: 'category',
        inverse: true,
        data: chart.rows,
        axisLine: {show: false},
        formatter: name => ending(name, 30),
        splitLine: {show: false},
      }),
      tooltip: tooltip({
        trigger: 'item',
        formatter: entry => {
          const [x, y, share] = entry.value;
          const count = Math.round(share * chart.notes[y]);
          return box(chart.rows[y], [
            ['', 'epoch', digits(chart.columns[x], 4)],
            ['', 'left', `${percent(share)}, ${count} of ${chart.notes[y]}`],
          ]);
        },
      }),
      series: [
        {
          type: 'heatmap',
          data: cells,
          itemStyle: {borderWidth: 1, borderColor: 'var(--surface)'},
          emphasis: {disabled: true},
          progressive: 0,
        },
      ],
    };
  }

  function bars(chart) {
    const bar = (name, values, fill) => ({
      type: 'bar',
      name,
      data: values.map(value => (value > 0 ? value : null)),
      color: fill,
      barWidth: 11,
      barGap: '-100%',
      emphasis: {disabled: true},
      itemStyle: {color: fill, borderRadius: 2},
    });
    return {
      height: 70 + 20 * chart.rows.length,
      grid: {left: 4, right: 24, top: 28, bottom: 8, containLabel: true},
      legend: {
        left: 0,
        top: 0,
        padding: 0,
        itemWidth: 12,
        itemHeight: 10,
        icon: 'roundRect',
        textStyle: text,
        selectedMode: false,
      },
      xAxis: axis({type: 'log', min: 1, formatter: large}),
      yAxis: axis({
        type: 'category',
        inverse: true,
        data: chart.rows,
        axisLine: {show: false},
        formatter: name => ending(name, 30),
      }),
      tooltip: tooltip({
        trigger: 'axis',
        axisPointer: {type: 'shadow', shadowStyle: {color: 'var(--grid)', opacity: 0.5}},
        formatter: found => {
          const row = found[0].dataIndex;
          const [before, after] = [chart.before[row], chart.after[row]];
          return box(chart.rows[row], [
            ['var(--before)', 'before', FORMATS.COUNT(before)],
            [colour(0), 'after', `${FORMATS.COUNT(after)} (${percent(after / Math.max(before, 1))})`],
          ]);
        },
      }),
      series: [bar('before', chart.before, 'var(--before)'), bar('after', chart.after, colour(0))],
    };
  }

  function plot(chart) {
    const names = [...new Set(chart.lines.map(line => line.name))];
    const format = side => (side.share ? 'PERCENT' : 'NUMBER');
    const side = (description, options) =>
      axis({
        type: description.logarithmic ? 'log' : 'value',
        scale: true,
        name: description.name,
        formatter: AXIS_FORMATS[format(description)],
        ...options,
      });
    const xs = chart.lines.flatMap(line => line.points.map(point => point[0]));
    return {
      grid: {left: 4, right: 18, top: names.length > 1 ? 44 : 22, bottom: 26, containLabel: true},
      legend: legendOf(chart.lines, names, names.length > 1),
      xAxis: side(chart.horizontal, {nameGap: 26, min: Math.min(...xs), max: Math.max(...xs), splitLine: {show: false}, axisLine: {onZero: false, lineStyle: {color: 'var(--rule)'}}}),
      yAxis: side(chart.vertical, {
        nameLocation: 'end',
        nameGap: 8,
        nameTextStyle: {...text, align: 'left'},
        axisLine: {show: false, onZero: false},
        splitNumber: 5,
      }),
      tooltip: tooltip({
        trigger: 'axis',
        axisPointer: {lineStyle: {color: 'var(--muted)', type: 'solid', opacity: 0.5}},
        formatter: found =>
          box(
            `${chart.horizontal.name} ${FORMATS[format(chart.horizontal)](found[0].axisValue)}`,
            found
              .filter(entry => entry.value[1] !== null)
              .map(entry => [
                colour(chart.lines[entry.seriesIndex].colour),
                entry.seriesName,
                FORMATS[format(chart.vertical)](entry.value[1]),
              ]),
          ),
      }),
      series: chart.lines.map(line => ({
        type: 'line',
        name: line.name,
        data: line.points,
        color: colour(line.colour),
        showSymbol: line.points.length <= 12,
        symbol: 'circle',
        symbolSize: 6,
        emphasis: {disabled: true},
        silent: true,
        lineStyle: {color: colour(line.colour), width: 2, type: line.stroke === 'DASHED' ? [5, 4] : 'solid'},
      })),
    };
  }

  function scatter(chart) {
    const known = chart.points.filter(([truth, estimate]) => truth !== null && estimate !== null);
    const [low, high] = [Math.min(...known.flat()), Math.max(...known.flat())];
    const side = options => axis({type: 'value', scale: true, formatter: short, ...options});
    return {
      grid: {left: 4, right: 18, top: 24, bottom: 26, containLabel: true},
      xAxis: side({name: 'truth', nameGap: 26, splitNumber: 5, axisLine: {onZero: false, lineStyle: {color: 'var(--rule)'}}}),
      yAxis: side({
        name: 'estimate',
        nameLocation: 'end',
        nameGap: 8,
        nameTextStyle: {...text, align: 'left'},
        axisLine: {show: false, onZero: false},
        splitNumber: 5,
      }),
      tooltip: tooltip({
        trigger: 'item',
        formatter: entry =>
          box(chart.quantity, [
            ['', 'truth', FORMATS.NUMBER(entry.value[0])],
            ['', 'estimate', FORMATS.NUMBER(entry.value[1])],
          ]),
      }),
      series: [
        {
          type: 'scatter',
          data: known,
          symbolSize: known.length > 500 ? 4 : 6,
          itemStyle: {color: colour(0), opacity: known.length > 500 ? 0.35 : 0.6},
          emphasis: {disabled: true},
        },
        {
          type: 'line',
          data: [
            [low, low],
            [high, high],
          ],
          symbol: 'none',
          silent: true,
          tooltip: {show: false},
          lineStyle: {color: colour(7), width: 1.5, type: [5, 4]},
        },
      ],
    };
  }

  function histogram(chart) {
    const last = chart.counts.length - 1;
    const edge = place => {
      const at = chart.from + place * chart.width;
      if (chart.axis === 'cosine') return at.toFixed(Math.min(9, Math.max(2, Math.ceil(1 - Math.log10(chart.width)))));
      // Numbers were rounded on their way here.
      return short(Math.abs(at) < 1e-3 * chart.width ? 0 : at);
    };
    return {
      grid: {left: 4, right: 18, top: 24, bottom: 26, containLabel: true},
      xAxis: axis({
        type: 'category',
        name: chart.axis,
        nameGap: 26,
        data: chart.counts.map((_, place) => edge(place + 0.5)),
        splitLine: {show: false},
        axisLabel: {...text, hideOverlap: true, interval: place => place % 10 === (last / 2) % 10},
      }),
      yAxis: axis({
        type: 'value',
        name: 'samples',
        nameLocation: 'end',
        nameGap: 8,
        nameTextStyle: {...text, align: 'left'},
        axisLine: {show: false},
        splitNumber: 4,
        formatter: AXIS_FORMATS.COUNT,
      }),
      tooltip: tooltip({
        trigger: 'axis',
        axisPointer: {type: 'shadow', shadowStyle: {color: 'var(--grid)', opacity: 0.5}},
        formatter: found => {
          const place = found[0].dataIndex;
          const from = place === 0 ? 'less' : edge(place);
          const to = place === last ? 'more' : edge(place + 1);
          return box(`${from} to ${to}`, [['', 'samples', FORMATS.COUNT(chart.counts[place])]]);
        },
      }),
      series: [
        {
          type: 'bar',
          data: chart.counts,
          barCategoryGap: '8%',
          itemStyle: {color: colour(0)},
          emphasis: {disabled: true},
        },
      ],
    };
  }

  // --- Studies: what is good against what it costs, and which settings lead there

  const BETTER = {HIGHER: ' (higher is better)', LOWER: ' (lower is better)', NEITHER: ''};
  const ARROWS = {HIGHER: ' ↑', LOWER: ' ↓', NEITHER: ''};
  const write = (dimension, value) =>
    value === null ? '–' : dimension.scale === 'WORDS' ? dimension.words[value] : FORMATS[dimension.format](value) + dimension.unit;
  const writeShort = (dimension, value) => AXIS_FORMATS[dimension.format](value) + dimension.unit;
  // From what is of no use to the best, without a colour that the style sheet does not know.
  const shade = goodness => `color-mix(in srgb, ${colour(0)} ${Math.round(100 * goodness)}%, var(--before))`;
  const spread = (dimension, point) =>
    write(dimension, point.values[0]) + (point.deviation === null ? '' : ' ± ' + FORMATS[dimension.format](point.deviation));
  const titleOf = point => `run ${point.row}${point.name ? ': ' + point.name : ''}`;
  const range = values => [Math.min(...values), Math.max(...values)];

  // The numbers of the rows that were chosen along the axes; null for all.
  let chosen = null;

  function tradeOff(chart, figure) {
    const which = figure.querySelector('select').selectedIndex;
    const cost = chart.costs[which];
    const known = chart.points.filter(point => point.values[which + 1] > 0);
    const place = point => [point.values[which + 1], point.values[0]];
    const isFaint = point => chosen !== null && !chosen.has(point.row);
    const front = known
      .filter(point => point.front[which])
      .sort((one, other) => place(one)[0] - place(other)[0] || place(one)[1] - place(other)[1]);
    const [low, high] = known.length > 0 ? range(known.map(point => place(point)[0])) : [0.5, 1];
    const share = chart.score.format === 'PERCENT';
    const scores = known.length > 0 ? known.map(point => point.values[0]) : [0, 1];
    const margin = (share ? 0.001 : 0) + (Math.max(...scores) - Math.min(...scores)) / 20;
    const many = known.length > 200;
    const wide = high / low > 8;
    const pad = (high - low) / 20;
    const symbols = (name, points, options) => ({
      type: 'scatter',
      name,
      data: points.map(point => ({
        value: place(point),
        point,
        itemStyle: {opacity: isFaint(point) ? 0.12 : options.opacity},
      })),
      symbol: 'circle',
      emphasis: {disabled: true},
      cursor: 'pointer',
      ...options.series,
    });
    return {
      grid: {left: 8, right: 24, top: 50, bottom: 30, containLabel: true},
      legend: {
        left: 'right',
        top: 0,
        padding: 0,
        itemGap: 16,
        itemWidth: 14,
        itemHeight: 9,
        textStyle: text,
        selectedMode: false,
        data: ['on the Pareto front', 'others'],
      },
      xAxis: axis({
        type: wide ? 'log' : 'value',
        name: cost.name + BETTER[cost.better],
        nameGap: 30,
        scale: true,
        ...(wide
          ? {logBase: 2, min: Math.pow(2, Math.floor(Math.log2(low) - 0.1)), max: Math.pow(2, Math.ceil(Math.log2(high) - 1e-9))}
          : cost.format === 'PERCENT'
            ? shareAxis([Math.max(low - pad, 0), Math.min(high + pad, 1)])
            : {boundaryGap: ['5%', '5%']}),
        formatter: value => (cost.format === 'PERCENT' ? digits(100 * value, 3) + ' %' : digits(value, 3) + cost.unit),
      }),
      yAxis: axis({
        type: 'value',
        ...(share
          ? shareAxis([...scores, Math.max(Math.min(...scores) - margin, 0), Math.min(Math.max(...scores) + margin, 1)])
          : {scale: true, boundaryGap: ['10%', '10%']}),
        name: chart.score.name + BETTER[chart.score.better],
        nameLocation: 'end',
        nameGap: 14,
        nameTextStyle: {...text, align: 'left'},
        axisLine: {show: false},
        formatter: value => writeShort(chart.score, value),
      }),
      tooltip: tooltip({
        trigger: 'item',
        formatter: entry => {
          const point = entry.data.point;
          return box(titleOf(point), [
            ['', chart.score.name, spread(chart.score, point)],
            ...chart.costs.map((one, i) => ['', one.name, write(one, point.values[i + 1])]),
          ]);
        },
      }),
      series: [
        {
          type: 'line',
          silent: true,
          data: front.map(place),
          // Whoever may spend so much has the best of what costs at most that.
          step: 'end',
          symbol: 'none',
          lineStyle: {color: colour(0), width: 1.5, opacity: chosen === null ? 0.8 : 0.25},
          z: 2,
        },
        symbols('others', known.filter(point => !point.front[which]), {
          opacity: many ? 0.45 : 0.75,
          series: {symbolSize: many ? 6 : 9, color: colour(7), itemStyle: {color: colour(7)}, z: 1},
        }),
        symbols('on the Pareto front', front, {
          opacity: 1,
          series: {
            symbolSize: 11,
            color: colour(0),
            itemStyle: {color: colour(0), borderColor: 'var(--surface)', borderWidth: 1.5},
            label: {...text, show: front.length <= 24, position: [7, 14], formatter: entry => String(entry.data.point.row)},
            labelLayout: {hideOverlap: true},
            z: 3,
          },
        }),
      ],
    };
  }

  function parallel(chart) {
    const many = chart.strands.length > 200;
    // Readable where lines pass through.
    const label = {...text, backgroundColor: 'var(--surface)', padding: [1, 3], borderRadius: 2};
    const sides = chart.dimensions.map((dimension, dim) => {
      const values = chart.strands.map(strand => strand.values[dim]).filter(value => value !== null);
      const [low, high] = values.length > 0 ? range(values) : [0, 1];
      return {
        dim,
        name: dimension.name + ARROWS[dimension.better],
        nameGap: 16,
        nameTextStyle: {...text, color: 'var(--ink)', fontWeight: 600},
        axisLine: {lineStyle: {color: 'var(--muted)', opacity: 0.6}},
        axisTick: {show: false},
        minorTick: {show: false},
        splitNumber: 4,
        areaSelectStyle: {width: 18, borderWidth: 1, borderColor: colour(1), color: colour(1), opacity: 0.3},
        ...(dimension.scale === 'WORDS'
          ? {type: 'category', data: dimension.words, axisLabel: {...label, formatter: word => ending(word, 18)}}
          : {
              type: dimension.scale === 'LOGARITHMIC' ? 'log' : 'value',
              scale: true,
              // A single value is in the middle.
              ...(low === high
                ? dimension.scale === 'LOGARITHMIC'
                  ? {min: low / 2, max: high * 2}
                  : {min: low - (Math.abs(low) || 1) / 2, max: high + (Math.abs(high) || 1) / 2}
                : dimension.scale === 'LOGARITHMIC'
                  ? {min: low, max: high}
                  : dimension.format === 'PERCENT'
                    ? shareAxis([low, high])
                    : {}),
              axisLabel: {
                ...label,
                hideOverlap: true,
                formatter: value => writeShort(dimension, value),
              },
            }),
      };
    });
    return {
      minWidth: 110 * sides.length,
      parallel: {left: 60, right: 72, top: 44, bottom: 16, parallelAxisDefault: {}},
      parallelAxis: sides,
      tooltip: tooltip({
        trigger: 'item',
        formatter: entry => {
          const strand = entry.data.strand;
          return box(
            `run ${strand.row}`,
            chart.dimensions.map((dimension, dim) => ['', dimension.name, write(dimension, strand.values[dim])]),
          );
        },
      }),
      series: [
        {
          type: 'parallel',
          // The best are drawn last, above the others.
          data: [...chart.strands]
            .sort((one, other) => one.goodness - other.goodness)
            .map(strand => ({
              value: strand.values.map((value, dim) => (value !== null && chart.dimensions[dim].scale === 'WORDS' ? chart.dimensions[dim].words[value] : (value ?? '-'))),
              strand,
              lineStyle: {color: shade(strand.goodness), width: strand.goodness > 0.9 ? 2 : 1.25, opacity: many ? 0.06 + 0.84 * strand.goodness ** 6 : 0.45 + 0.55 * strand.goodness},
            })),
          lineStyle: {width: 1.25, opacity: 0.7},
          activeOpacity: 0.95,
          inactiveOpacity: 0.05,
          emphasis: {disabled: true},
          progressive: 0,
        },
      ],
    };
  }

  // What somebody has chosen along the axes, kept when the chart is drawn again.
  function watchParallel(drawing) {
    const intervals = new Map();
    const tell = () => {
      const series = drawing.getModel().getSeries()[0];
      const data = series.getRawIndicesByActiveState('active');
      const all = drawing.getOption().series[0].data;
      choose(intervals.size === 0 ? null : new Set(data.map(index => all[index].strand.row)));
    };
    drawing.on('axisareaselected', () => {
      intervals.clear();
      drawing.getModel().eachComponent('parallelAxis', side => {
        if (side.activeIntervals.length > 0) intervals.set(side.componentIndex, side.activeIntervals.map(interval => [...interval]));
      });
      tell();
    });
    return {
      redrawn() {
        if (intervals.size === 0) return;
        intervals.forEach((stretches, index) => {
          const side = drawing.getModel().getComponent('parallelAxis', index);
          if (side) drawing.dispatchAction({type: 'axisAreaSelect', parallelAxisId: side.id, intervals: stretches}, {silent: true});
        });
        tell();
      },
    };
  }

  // A click on a point leads to its row.
  function watchTradeOff(drawing) {
    drawing.on('click', entry => {
      const row = entry.data?.point && document.querySelector(`#points tr[data-row="${entry.data.point.row}"]`);
      if (!row) return;
      document.querySelectorAll('#points tr.pointed').forEach(other => other.classList.remove('pointed'));
      row.classList.add('pointed');
      row.scrollIntoView({block: 'center', behavior: matchMedia('(prefers-reduced-motion: reduce)').matches ? 'auto' : 'smooth'});
    });
    return {redrawn() {}};
  }

  function choose(rows) {
    chosen = rows;
    document.querySelectorAll('figure[data-chart]').forEach(figure => {
      if (shown.get(figure)?.kind === 'TradeOff') changes.get(figure)(shown.get(figure));
    });
    arrange();
  }

  // The table: in which order, which rows, and which are on the front of the cost that is looked at.
  const COSTS = ['parameters', 'flops', 'latency'];
  let order = {column: null, reversed: false};

  function arrange() {
    const table = document.getElementById('points');
    if (table === null) return;
    const heads = [...table.tHead.rows[0].cells];
    const column = heads.findIndex(head => head.textContent === order.column);
    heads.forEach((head, i) => {
      if (head.querySelector('button') === null) {
        const button = Object.assign(document.createElement('button'), {type: 'button', textContent: head.textContent});
        button.addEventListener('click', () => sortBy(button.textContent));
        head.replaceChildren(button);
      }
      head.setAttribute('aria-sort', i !== column ? 'none' : (head.dataset.better === 'high') === order.reversed ? 'ascending' : 'descending');
    });
    const body = table.tBodies[0];
    const rows = [...body.rows];
    const number = (row, place) => {
      const value = row.cells[place].dataset.value;
      return value === '' ? null : Number(value);
    };
    const sign = (column >= 0 && heads[column].dataset.better === 'high' ? -1 : 1) * (order.reversed ? -1 : 1);
    const sorted = [...rows].sort((one, other) => {
      const [a, b] = column < 0 ? [null, null] : [number(one, column), number(other, column)];
      // What has no number comes last in either direction.
      return (a === null) - (b === null) || (a === null ? 0 : sign * (a - b)) || number(one, 0) - number(other, 0);
    });
    if (sorted.some((row, i) => row !== rows[i])) body.append(...sorted);
    const cost = COSTS[document.querySelector('figure[data-chart=tradeoff] select')?.selectedIndex ?? 0];
    let seen = 0;
    rows.forEach(row => {
      row.classList.toggle('front', row.dataset.front.split(' ').includes(cost));
      row.hidden = chosen !== null && !chosen.has(Number(row.dataset.row));
      if (!row.hidden) seen++;
    });
    const place = document.getElementById('shown');
    if (place !== null) {
      place.textContent = chosen === null ? '' : `${FORMATS.COUNT(seen)} of ${FORMATS.COUNT(rows.length)} points were chosen above. `;
    }
  }

  // The best first, then the worst first, then as the study has them.
  function sortBy(name) {
    order = order.column !== name ? {column: name, reversed: false} : order.reversed ? {column: null, reversed: false} : {column: name, reversed: true};
    arrange();
  }

  const WATCHES = {Parallel: watchParallel, TradeOff: watchTradeOff};
  const KINDS = {TradeOff: tradeOff, Parallel: parallel, Lines: lines, Points: points, HeatMap: heatMap, Bars: bars, Plot: plot, Scatter: scatter, Histogram: histogram};

  // --- Drawing

  // What changes the chart of a figure that is drawn already.
  const changes = new WeakMap();
  // The chart that a figure shows.
  const shown = new WeakMap();

  function begin(figure) {
    const plot = figure.querySelector('.plot');
    let drawing = null;
    let option = {};
    let watch = null;
    const fit = () => plot.querySelector('svg').setAttribute('viewBox', `0 0 ${drawing.getWidth()} ${drawing.getHeight()}`);
    const update = () => {
      // Without a width there is nothing to draw yet; on paper, the picture shrinks instead of being drawn again.
      if (plot.clientWidth === 0 || matchMedia('print').matches) return;
      if (drawing === null) {
        drawing = echarts.init(plot, null, {renderer: 'svg'});
        drawing.setOption(option);
        watch = WATCHES[shown.get(figure).kind]?.(drawing);
      } else {
        drawing.resize();
      }
      fit();
    };
    new ResizeObserver(() => {
      if (drawing === null || plot.clientWidth !== drawing.getWidth()) update();
    }).observe(plot);
    return chart => {
      shown.set(figure, chart);
      const {height, minWidth, ...rest} = KINDS[chart.kind](chart, figure);
      if (height) plot.style.height = height + 'px';
      if (minWidth) plot.style.minWidth = minWidth + 'px';
      option = {animation: false, textStyle: {fontFamily: SANS}, ...rest};
      if (drawing === null) {
        update();
        return;
      }
      // Lines that somebody has hidden stay hidden.
      const selected = drawing.getOption().legend?.[0]?.selected;
      if (selected && option.legend) option.legend.selected = selected;
      drawing.setOption(option, true);
      watch?.redrawn();
      update();
    };
  }

  function draw(figure, chart) {
    if (!changes.has(figure)) {
      changes.set(figure, begin(figure));
      figure.querySelector('select')?.addEventListener('change', () => {
        changes.get(figure)(shown.get(figure));
        arrange();
      });
    }
    changes.get(figure)(chart);
  }

  // --- The recipe: sections and comments stand out

  function markRecipe(code) {
    const parts = code.textContent.split('\n').flatMap((line, number) => {
      const kind = /^\s*\[/.test(line) ? 'section' : /^\s*#/.test(line) ? 'comment' : null;
      const node = kind ? Object.assign(document.createElement('span'), {className: kind, textContent: line}) : line;
      return number > 0 ? ['\n', node] : [node];
    });
    code.replaceChildren(...parts);
  }

  // --- The page; one that grows shows its charts again

  function show(list) {
    const charts = new Map(list.map(chart => [chart.id, chart]));
    document.querySelectorAll('figure[data-chart]').forEach(figure => draw(figure, charts.get(figure.dataset.chart)));
    document.querySelectorAll('.recipe code').forEach(markRecipe);
    arrange();
  }

  // Charts stay where they are, and with them what somebody points at or has hidden; so does what was unfolded, scrolled to or pointed at.
  function replace(report, content) {
    const body = new DOMParser().parseFromString(content, 'text/html').body;
    const open = new Set([...report.querySelectorAll('details[open]')].map(details => details.closest('section')?.id));
    body.querySelectorAll('details').forEach(details => (details.open = open.has(details.closest('section')?.id)));
    body.querySelectorAll('figure[data-chart]').forEach(figure => {
      const old = report.querySelector(`figure[data-chart="${CSS.escape(figure.dataset.chart)}"]`);
      if (!old) return;
      old.querySelector('.plot').setAttribute('aria-label', figure.querySelector('.plot').getAttribute('aria-label'));
      figure.replaceWith(old);
    });
    const scrolled = new Map([...report.querySelectorAll('.scroll')].map(box => [box.getAttribute('aria-label'), [box.scrollLeft, box.scrollTop]]));
    const pointed = report.querySelector('tr.pointed')?.dataset.row;
    report.replaceChildren(...body.children);
    report.querySelector(`tr[data-row="${pointed}"]`)?.classList.add('pointed');
    arrange();
    report.querySelectorAll('.scroll').forEach(box => ([box.scrollLeft, box.scrollTop] = scrolled.get(box.getAttribute('aria-label')) ?? [0, 0]));
  }

  show(JSON.parse(document.getElementById('charts').textContent));
  globalThis.espalierReport = {show, replace};

  // --- On paper, nothing is folded

  addEventListener('beforeprint', () => document.querySelectorAll('details').forEach(details => (details.open = true)));
})();
