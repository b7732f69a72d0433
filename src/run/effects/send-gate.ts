import type { ArtifactWriter, SaveFailure } from '../../artifacts/writer.ts';
import type { Limits } from '../../pipeline/pipeline.ts';
import type { ImageService } from '../../service/image-service.ts';
import type { OnLeave, ServiceFailure, TellsLeaving } from '../../service/result.ts';
import type { TextService } from '../../service/text-service.ts';
import type { Clock } from '../clock.ts';
import type { Route } from '../events.ts';
import type { SendFence, SharedLimits } from '../ports.ts';
import { RouteGate } from './route-gate.ts';

/** The ports that send requests. */
interface SendPorts {
  readonly service: ImageService;
  readonly text: TextService;
  readonly artifacts: ArtifactWriter;
}

/** Called when a request is sent on a route that has a rate. */
export type OnLeft = (route: Route, at: number) => void;

/** Routes whose requests may cost money. */
const paidRoutes: ReadonlySet<Route> = new Set(['submit', 'text']);

const routeNames = ['submit', 'text', 'poll', 'download'] as const satisfies readonly Route[];

/**
 * Enforces the rates of `limits` when requests are sent. The scheduler applies the same rates, but between its decision and the request lie
 * a commit and the reading of images, which bunch requests together, and between the gate and the network a handshake or a pause of the
 * process. The gate counts a request when its port reports the first byte, or else when it passes the gate.
 *
 * With several workers, no paid request passes while others may consider this worker dead. That is checked again just before the first
 * byte, because the process may have been stopped in between.
 */
export class SendGate {
  readonly #routes: ReadonlyMap<Route, RouteGate>;
  readonly #shared: NonNullable<SharedLimits['sendTimes']>;
  readonly #fence: SendFence | undefined;

  constructor(
    limits: Limits,
    clock: Clock,
    onLeft: OnLeft = () => undefined,
    {
      sendTimes = {},
      fence,
    }: { readonly sendTimes?: SharedLimits['sendTimes']; readonly fence?: SendFence } = {},
  ) {
    this.#shared = sendTimes;
    this.#fence = fence;
    this.#routes = new Map(
      routeNames.flatMap((route) => {
        const rate = limits[route];
        return rate === undefined ? [] : [[route, new RouteGate(rate, clock, (at) => onLeft(route, at))]];
      }),
    );
  }

  /**
   * Sends a request as soon as it may be sent.
   *
   * @returns `refusal` where the signal ended the wait
   */
  async send<T>(
    route: Route,
    { tellsLeaving = false }: TellsLeaving,
    signal: AbortSignal,
    refusal: T,
    send: (onLeave?: OnLeave) => Promise<T>,
  ): Promise<T> {
    const fence = paidRoutes.has(route) ? this.#fence : undefined;
    const open = fence?.pass(signal);
    if (open !== undefined && !(await open)) return refusal;
    const shared = this.#shared[route];
    const turn = shared?.pass?.(signal);
    const noteLeft = turn instanceof Promise ? await turn : turn;
    if (turn !== undefined && noteLeft === undefined) return refusal;
    const passed = this.#routes.get(route)?.pass(signal);
    const departure = passed instanceof Promise ? await passed : passed;
    if (passed !== undefined && departure === undefined) {
      noteLeft?.(false);
      return refusal;
    }
    let hasLeft = false;
    const onLeave = (): boolean => {
      if (fence?.isOpen === false) return false;
      noteLeft?.(true);
      hasLeft = true;
      departure?.onLeave();
      return true;
    };
    try {
      if (!tellsLeaving && !onLeave()) return refusal;
      if (departure === undefined && fence === undefined && noteLeft === undefined) return await send();
      return await send(tellsLeaving ? onLeave : departure?.onLeave);
    } finally {
      if (!hasLeft) noteLeft?.(false);
      departure?.onEnd();
    }
  }
}

const unsent: { readonly ok: false; readonly error: ServiceFailure } = {
  ok: false,
  error: {
    code: 'connection.aborted',
    class: 'unsent',
    message: 'The run ended, or this worker lost the engine, before the request was sent.',
  },
};

const unsaved: { readonly ok: false; readonly error: SaveFailure } = {
  ok: false,
  error: { code: 'download.aborted', class: 'retry', message: 'The run ended before the download began.' },
};

/** Returns ports whose requests wait for the gate; the same ports where no rate applies. */
export function gated(
  ports: SendPorts,
  limits: Limits,
  clock: Clock,
  onLeft?: OnLeft,
  {
    sendTimes = {},
    fence,
  }: { readonly sendTimes?: SharedLimits['sendTimes']; readonly fence?: SendFence } = {},
): SendPorts {
  const { service, text, artifacts } = ports;
  const isFree = (route: Route): boolean =>
    limits[route] === undefined &&
    sendTimes[route] === undefined &&
    (fence === undefined || !paidRoutes.has(route));
  if (routeNames.every((route) => isFree(route))) return { service, text, artifacts };
  const gate = new SendGate(limits, clock, onLeft, { sendTimes, ...(fence && { fence }) });
  const listTasks = service.listTasks?.bind(service);
  const readSeed = service.readSeed?.bind(service);
  const after = <T>(
    route: 'submit' | 'poll',
    signal: AbortSignal,
    send: (onLeave?: OnLeave) => Promise<T>,
  ): Promise<T | typeof unsent> => gate.send<T | typeof unsent>(route, service, signal, unsent, send);
  const gatedService: ImageService = {
    action: (request, signal) =>
      after('submit', signal, (onLeave) => service.action(request, signal, onLeave)),
    modal: (request, signal) => after('submit', signal, (onLeave) => service.modal(request, signal, onLeave)),
    begin: (request, signal) => after('submit', signal, (onLeave) => service.begin(request, signal, onLeave)),
    fetchTask: (id, signal) => after('poll', signal, (onLeave) => service.fetchTask(id, signal, onLeave)),
    fetchTasks: (ids, signal) => after('poll', signal, (onLeave) => service.fetchTasks(ids, signal, onLeave)),
    ...(listTasks === undefined
      ? {}
      : { listTasks: (signal) => after('poll', signal, (onLeave) => listTasks(signal, onLeave)) }),
    ...(readSeed && {
      readSeed: (id, signal) => after('poll', signal, (onLeave) => readSeed(id, signal, onLeave)),
    }),
    close: () => service.close(),
  };
  const gatedText: TextService = {
    ask: (request, signal) =>
      gate.send('text', text, signal, unsent, (onLeave) => text.ask(request, signal, onLeave)),
    models: (signal) => text.models(signal),
    close: () => text.close(),
  };
  const gatedArtifacts: ArtifactWriter = {
    save: (request, signal) =>
      gate.send('download', {}, signal, unsaved, () => artifacts.save(request, signal)),
    cut: (request, signal) => artifacts.cut(request, signal),
    keep: (request, signal) => artifacts.keep(request, signal),
    close: () => artifacts.close(),
  };
  return { service: gatedService, text: gatedText, artifacts: gatedArtifacts };
}
