import type { Cell } from '../../src/plan/cell.ts';
import type { Clock } from '../../src/run/clock.ts';
import type { RunEvent } from '../../src/run/events.ts';
import type { CellSource, RunPorts, RunReport, RunSettings, RunStore } from '../../src/run/ports.ts';
import { runPlan } from '../../src/run/run.ts';
import type { ImageService, SubmitResult } from '../../src/service/image-service.ts';
import type { ServiceResult } from '../../src/service/result.ts';
import type { TextService } from '../../src/service/text-service.ts';
import type { Delivered, Submitted } from '../rig/driven-service.ts';
import { cutNowhere } from '../rig/frames.ts';
import { ScriptedGateway } from '../rig/gateway/scripted-gateway.ts';
import { epoch } from '../rig/jobs.ts';
import { memoryStore } from '../rig/memory-store.ts';
import { planOf } from '../rig/plan.ts';
import { keptNowhere, noText } from '../rig/text-ports.ts';
import { virtualSettings } from '../rig/virtual-run.ts';

export const text = `name: t
matrix: { n: { from: 1, to: 5 } }
steps:
  grid: { imagine: "picture {{ n }}", path: U1 }
`;

/** A clock that jumps to the next moment that is waited for, once everything else has had its turn, or so many turns. */
export function jumpingClock(turns = 1): Clock {
  let now = epoch;
  return {
    now: () => now,
    at: (atMs, call) => {
      let left = turns;
      const turn = (): void => {
        left -= 1;
        if (left > 0) {
          immediate = setImmediate(turn);
          return;
        }
        now = Math.max(now, atMs);
        call();
      };
      let immediate = setImmediate(turn);
      return () => clearImmediate(immediate);
    },
  };
}

const received = ({ result }: Delivered<Submitted>): ServiceResult<SubmitResult> => {
  if ('unread' in result) throw new Error('No image is read here.');
  return result;
};

/** The scripted gateway behind the port, with what a test puts in between. */
function portOf(
  service: ScriptedGateway,
  clock: Clock,
  store: RunStore,
  before: Partial<ImageService> = {},
): ImageService {
  const submit = ({ tag = '', taskId }: { readonly tag?: string; readonly taskId?: string }) => {
    const record = store.get(tag);
    // The intent is durable before the request leaves; a request without one is a bug that this finds.
    if (record?.status !== 'submitting') throw new Error('A submission left before its intent was durable.');
    return received(service.submit(record, taskId, clock.now()));
  };
  return {
    begin: ({ tag = '' }) => Promise.resolve(submit({ tag })),
    action: (request) => Promise.resolve(submit(request)),
    modal: () => Promise.reject(new Error('no modal is confirmed here')),
    fetchTask: (id) => Promise.resolve(service.fetch(id, clock.now()).result),
    fetchTasks: (ids) => Promise.resolve(service.list(ids, clock.now()).result),
    close: () => Promise.resolve(),
    ...before,
  };
}

export async function run(
  change: {
    readonly store?: RunStore;
    readonly service?: (port: ImageService) => Partial<ImageService>;
    readonly settings?: Partial<RunSettings>;
    readonly listener?: (event: RunEvent) => void;
    readonly control?: { readonly drain?: AbortSignal; readonly leave?: AbortSignal };
    readonly text?: string;
    readonly ask?: TextService['ask'];
    readonly steps?: ReadonlySet<string>;
    readonly artifacts?: Partial<RunPorts['artifacts']>;
    readonly disk?: RunPorts['disk'];
    readonly shared?: RunPorts['shared'];
    readonly resultLog?: RunPorts['resultLog'];
    readonly clock?: Clock;
    /** What the run reads in place of the cells of the plan. */
    readonly cells?: (all: AsyncIterable<Cell>) => AsyncIterable<Cell>;
    /** Gives the run slices of cells. */
    readonly source?: CellSource;
    /** Is shown the service before the run begins. */
    readonly seen?: (service: ScriptedGateway) => void;
  } = {},
): Promise<RunReport & { readonly service: ScriptedGateway; readonly events: readonly RunEvent[] }> {
  const { plan } = await planOf(change.text ?? text);
  const store = change.store ?? memoryStore();
  const clock = change.clock ?? jumpingClock();
  const service = new ScriptedGateway();
  change.seen?.(service);
  const port = portOf(service, clock, store);
  const ports: RunPorts = {
    store,
    clock,
    random: () => 0.5,
    service: { ...port, ...change.service?.(port) },
    ...noText,
    ...(change.ask === undefined ? {} : { text: { ...noText.text, ask: change.ask } }),
    artifacts: {
      save: ({ key, output }) => Promise.resolve(service.save(key, output).result),
      cut: cutNowhere,
      keep: keptNowhere,
      close: () => Promise.resolve(),
      ...change.artifacts,
    },
    ...(change.disk && { disk: change.disk }),
    ...(change.source && { cells: change.source }),
    ...(change.shared && { shared: change.shared }),
    ...(change.resultLog && { resultLog: change.resultLog }),
  };
  const events: RunEvent[] = [];
  const never = new AbortController().signal;
  const report = await runPlan(
    {
      cells: (selection) => {
        const all = plan.matrix.cells(selection);
        return change.cells?.(all) ?? all;
      },
      resolve: (cell, lookup) => plan.resolve(cell, lookup),
      price: () => undefined,
      ...(change.steps === undefined ? {} : { steps: change.steps }),
    },
    {},
    virtualSettings({ limits: { tasks: 1, requests: 4 }, ...change.settings }),
    ports,
    { drain: change.control?.drain ?? never, leave: change.control?.leave ?? never },
    (event) => {
      events.push(event);
      change.listener?.(event);
    },
  );
  return { ...report, service, events };
}
