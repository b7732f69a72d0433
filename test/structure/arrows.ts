/** What one room of `src` may import from the other rooms. */
export interface Room {
  /** Rooms, folders or files whose values and types the room may import: `plan`, `state/sqlite`, `state/store.ts`. */
  readonly imports: readonly string[];
  /** Rooms, folders or files of which the room may import types only. */
  readonly types?: readonly string[];
}

/** Every room of `src`. A room that is not named in `imports` or `types` may not be imported. */
export const rooms: Readonly<Record<string, Room>> = {
  pipeline: { imports: [] },
  plan: { imports: ['pipeline'] },
  service: { imports: [] },
  state: { imports: ['pipeline', 'plan'] },
  artifacts: { imports: ['pipeline', 'plan', 'state', 'service/http'], types: ['service'] },
  run: {
    imports: ['pipeline', 'plan', 'state/store.ts', 'artifacts/inputs.ts'],
    types: ['service', 'state', 'artifacts'],
  },
  results: { imports: ['pipeline', 'plan', 'state'], types: ['run'] },
  manifest: { imports: ['pipeline', 'plan', 'state', 'results'] },
  upkeep: {
    imports: [
      'plan',
      'state',
      'artifacts/formats',
      'artifacts/store',
      'artifacts/media.ts',
      'results',
      'manifest',
    ],
  },
  report: {
    imports: [
      'pipeline',
      'plan',
      'run',
      'state',
      'results',
      'manifest',
      'artifacts/store',
      'artifacts/formats',
      'artifacts/failure.ts',
      'artifacts/media.ts',
    ],
    types: ['service'],
  },
  engine: { imports: ['pipeline', 'plan', 'state', 'run'] },
  sandbox: {
    imports: [
      'service/wire.ts',
      'state/sqlite',
      'state/files/folders.ts',
      'state/state-error.ts',
      'state/store.ts',
      'artifacts/formats/image-library.ts',
    ],
  },
  app: {
    imports: [
      'pipeline',
      'plan',
      'run',
      'service',
      'state',
      'artifacts',
      'results',
      'manifest',
      'upkeep',
      'report',
      'engine',
      'sandbox',
    ],
  },
  cli: {
    imports: [
      'pipeline',
      'plan',
      'run',
      'service',
      'state',
      'artifacts',
      'results',
      'manifest',
      'upkeep',
      'report',
      'engine',
      'sandbox',
      'app',
    ],
  },
};

/**
 * The sub-folders of every folder that has any. A sub-folder may import those that stand before it in its list, and none that
 * stands after it. (The files that stand beside the sub-folders are held by the check for circles.)
 */
export const orders: Readonly<Record<string, readonly string[]>> = {
  pipeline: [
    'values',
    'diagnostics',
    'yaml',
    'templates',
    'selectors',
    'schema',
    'settings',
    'matrix',
    'steps',
  ],
  'pipeline/schema': ['hints'],
  'pipeline/matrix': ['table'],
  'pipeline/matrix/table': ['json'],
  'pipeline/steps': ['domain', 'reply-schema', 'checks'],

  plan: ['matrix', 'request', 'graph', 'resolve', 'estimate'],

  service: ['http', 'failures', 'text', 'image'],
  'service/http': ['body', 'connect'],
  'service/text': ['request', 'reply', 'stream'],

  state: ['files', 'sqlite', 'lock'],

  artifacts: ['formats', 'store', 'masks', 'download', 'input'],
  'artifacts/store': ['s3'],

  run: ['resources', 'machine', 'limits', 'scheduler', 'effects'],
  'run/machine': ['retry', 'poll', 'search'],
  'run/scheduler': ['routes', 'state', 'slices'],

  report: ['facts', 'metrics', 'text', 'exports', 'results', 'gallery', 'page', 'serve'],
  'report/serve': ['index', 'http'],
  'report/text': ['job', 'status'],
  'report/results': ['counts'],
  'report/exports': ['formats'],
  'report/page': ['text', 'source', 'state', 'parts', 'views'],
  'report/page/views': ['results', 'result', 'compare', 'charts'],
  'report/page/views/results': ['filters', 'grid'],

  engine: ['postgres', 'state', 'limits', 'queue', 'slices'],

  sandbox: ['prompt', 'draw', 'faults', 'text', 'images', 'tasks', 'http'],
  'sandbox/draw': ['canvas', 'motif', 'style', 'scene'],
  'sandbox/http': ['routes'],
  'sandbox/tasks': ['store', 'desks'],
  'sandbox/text': ['say', 'json', 'protocol'],

  app: ['output', 'errors', 'progress', 'adapters', 'service', 'workspace', 'fingerprint', 'run', 'engine'],
  'app/adapters': ['git'],
  'app/engine': ['worker', 'lead'],
  'app/run': ['doubt'],
  'app/service': ['engine'],
  'app/workspace': ['checks'],

  cli: ['terminal', 'adapters', 'args', 'commands'],
  'cli/args': ['completion'],
  'cli/commands': ['machine', 'status', 'results'],
  'cli/terminal': ['progress'],
};
