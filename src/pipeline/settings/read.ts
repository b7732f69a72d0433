import type { Limits, NamesSetting, Pipeline, RetrySettings, ServiceBlock, Speed } from '../pipeline.ts';
import type { PipelineFile } from '../schema/pipeline-file.generated.ts';
import { reasonMatch } from './fail-reason.ts';
import { durationMs, rate } from './units.ts';

/** Default settings, as in a pipeline file. The schema states the same defaults for editors; a test proves that they agree. */
export const defaults = {
  service: {
    baseUrl: '${PROMPTPRESS_BASE_URL}',
    apiKey: '${PROMPTPRESS_API_KEY}',
    auth: 'bearer',
    clicks: 'auto',
    tag: true,
    names: 'neutral',
  },
  limits: { tasks: 12, requests: 32 },
  retry: {
    attempts: 6,
    base: '1s',
    cap: '60s',
    resubmits: 2,
    ambiguous: 'retry',
    patience: '1h',
    invalid: 2,
    permanent: [],
    transient: [],
    quota: [],
  },
  timeouts: { request: '60s', task: '20m', queue: '2h', text: '10m', firstByte: '3m', idle: '60s' },
  poll: { min: '1s', max: '15s', list: false },
  matrix: { repeat: 1 },
  sample: { seed: 0 },
  axis: { step: 1 },
  step: { keep: true, max: 100 },
  best: { top: 1 },
  keepReplies: 'all',
  failures: { accept: [] },
  mask: { invert: false },
  generate: { rounds: 8 },
} as const;

/** The settings of a pipeline: everything except matrix and steps. */
export type Settings = Pick<
  Pipeline,
  | 'service'
  | 'limits'
  | 'retry'
  | 'timeouts'
  | 'poll'
  | 'budget'
  | 'prices'
  | 'models'
  | 'keepReplies'
  | 'acceptedFailures'
>;

/** Reads the settings of a file that has passed all checks. */
export function settingsOf(file: PipelineFile): Settings {
  return {
    service: serviceOf(file.service),
    limits: limitsOf(file.limits),
    retry: retryOf(file.retry),
    timeouts: {
      requestMs: durationMs(file.timeouts?.request ?? defaults.timeouts.request),
      taskMs: durationMs(file.timeouts?.task ?? defaults.timeouts.task),
      queueMs: durationMs(file.timeouts?.queue ?? defaults.timeouts.queue),
      textMs: durationMs(file.timeouts?.text ?? defaults.timeouts.text),
      firstByteMs: durationMs(file.timeouts?.firstByte ?? defaults.timeouts.firstByte),
      idleMs: durationMs(file.timeouts?.idle ?? defaults.timeouts.idle),
    },
    poll: {
      minMs: durationMs(file.poll?.min ?? defaults.poll.min),
      maxMs: durationMs(file.poll?.max ?? defaults.poll.max),
      list: file.poll?.list ?? defaults.poll.list,
    },
    budget: file.budget ?? {},
    prices: file.prices ?? {},
    models: file.models ?? {},
    keepReplies: file.keepReplies ?? defaults.keepReplies,
    acceptedFailures: file.failures?.accept ?? defaults.failures.accept,
  };
}

function serviceOf(block: PipelineFile['service'] = {}): ServiceBlock {
  const names = namesOf(block.names ?? defaults.service.names);
  const speed = block.speed ?? speedOf(names);
  return {
    baseUrl: block.baseUrl ?? defaults.service.baseUrl,
    apiKey: block.apiKey ?? defaults.service.apiKey,
    ...(block.id === undefined ? {} : { id: block.id }),
    ...(speed === undefined ? {} : { speed }),
    auth: block.auth ?? defaults.service.auth,
    clicks: block.clicks ?? defaults.service.clicks,
    tag: block.tag ?? defaults.service.tag,
    names,
  };
}

/** Default speed. The contract says relax for a path without prefix; some gateways take it as fast and charge for it (gateway 1.5). */
const speedOf = ({ preset, own }: NamesSetting): Speed | undefined =>
  preset === 'neutral' && (own['relaxPrefix'] ?? '') === '' ? 'relax' : undefined;

function namesOf(names: NonNullable<NonNullable<PipelineFile['service']>['names']>): NamesSetting {
  if (typeof names === 'string') return { preset: names as NamesSetting['preset'], own: {} };
  const { preset = defaults.service.names, ...own } = names;
  return { preset, own };
}

const rateNames = ['submit', 'poll', 'download', 'text', 'tokens'] as const;

function limitsOf(block: PipelineFile['limits'] = {}): Limits {
  const rates = rateNames.flatMap((name) => {
    const text = block[name];
    return text === undefined ? [] : [[name, rate(text)] as const];
  });
  return {
    tasks: block.tasks ?? defaults.limits.tasks,
    requests: block.requests ?? defaults.limits.requests,
    ...Object.fromEntries(rates),
  };
}

function retryOf(block: PipelineFile['retry'] = {}): RetrySettings {
  return {
    attempts: block.attempts ?? defaults.retry.attempts,
    baseMs: durationMs(block.base ?? defaults.retry.base),
    capMs: durationMs(block.cap ?? defaults.retry.cap),
    resubmits: block.resubmits ?? defaults.retry.resubmits,
    ambiguous: block.ambiguous ?? defaults.retry.ambiguous,
    ...(block.ambiguous === 'retry' && { retriesAmbiguous: true }),
    patienceMs: durationMs(block.patience ?? defaults.retry.patience),
    invalid: block.invalid ?? defaults.retry.invalid,
    permanent: (block.permanent ?? defaults.retry.permanent).map(reasonMatch),
    transient: (block.transient ?? defaults.retry.transient).map(reasonMatch),
    ...(block.quota !== undefined && { quota: block.quota }),
  };
}
