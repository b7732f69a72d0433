import type { ArtifactWriter, SaveFailure } from '../../artifacts/writer.ts';
import type { Limits } from '../../pipeline/pipeline.ts';
import type { ImageService } from '../../service/image-service.ts';
import type { ServiceFailure } from '../../service/result.ts';
import type { TextService } from '../../service/text-service.ts';
import type { Clock } from '../clock.ts';
import type { Route } from '../events.ts';
import { EvenMoments, graceMs } from '../limits/even-moments.ts';

/** The ports through which requests leave. */
interface SendPorts {
  readonly service: ImageService;
  readonly text: TextService;
  readonly artifacts: ArtifactWriter;
}

/**
 * Keeps the rates of `limits` at the moment in which requests leave. The scheduler decides at the same rates; between its decision and
 * the request lie a commit and the reading of images, which bunch requests together.
 */
export class SendGate {
  readonly #clock: Clock;
  readonly #routes: Readonly<
    Partial<Record<Route, { readonly moments: EvenMoments; readonly lateMs: number }>>
  >;

  constructor(limits: Limits, clock: Clock) {
    this.#clock = clock;
    const gate = (route: Route): object => {
      const rate = limits[route];
      return rate === undefined ? {} : { [route]: { moments: new EvenMoments(rate), lateMs: graceMs(rate) } };
    };
    this.#routes = { ...gate('submit'), ...gate('text'), ...gate('poll'), ...gate('download') };
  }

  /**
   * Waits for a moment at which a request of this route may leave; undefined: at once.
   *
   * @returns false where the signal ended the wait: the request must not leave
   */
  pass(route: Route, signal: AbortSignal): undefined | Promise<boolean> {
    const gate = this.#routes[route];
    if (gate === undefined) return undefined;
    const now = this.#clock.now();
    const at = Math.max(now, gate.moments.nextAt());
    const moment = gate.moments.take(at);
    return at <= now ? undefined : this.#wait(route, { at, latest: moment + gate.lateMs }, signal);
  }

  async #wait(
    route: Route,
    { at, latest }: { readonly at: number; readonly latest: number },
    signal: AbortSignal,
  ): Promise<boolean> {
    while (!signal.aborted && this.#clock.now() < at) await this.#sleep(at, signal);
    if (signal.aborted) return false;
    // A moment that was missed is lost: to use it now would be one too many in some window.
    if (this.#clock.now() > latest) return (await this.pass(route, signal)) ?? true;
    return true;
  }

  #sleep(at: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        cancel();
        signal.removeEventListener('abort', end);
        resolve();
      };
      const cancel = this.#clock.at(at, end);
      signal.addEventListener('abort', end, { once: true });
    });
  }
}

const unsent: { readonly ok: false; readonly error: ServiceFailure } = {
  ok: false,
  error: {
    code: 'connection.aborted',
    class: 'unsent',
    message: 'The run ended before the request left.',
  },
};

const unsaved: { readonly ok: false; readonly error: SaveFailure } = {
  ok: false,
  error: { code: 'download.aborted', class: 'retry', message: 'The run ended before the download began.' },
};

/** The same ports, each request of which waits for its moment. Without rates the ports themselves. */
export function gated(ports: SendPorts, limits: Limits, clock: Clock): SendPorts {
  const { service, text, artifacts } = ports;
  const routes: readonly Route[] = ['submit', 'text', 'poll', 'download'];
  if (routes.every((route) => limits[route] === undefined)) return { service, text, artifacts };
  const gate = new SendGate(limits, clock);
  const after = async <T>(
    route: Route,
    signal: AbortSignal,
    refusal: T,
    send: () => Promise<T>,
  ): Promise<T> => ((await gate.pass(route, signal)) === false ? refusal : await send());
  const listTasks = service.listTasks?.bind(service);
  const gatedService: ImageService = {
    imagine: (request, signal) => after('submit', signal, unsent, () => service.imagine(request, signal)),
    action: (request, signal) => after('submit', signal, unsent, () => service.action(request, signal)),
    modal: (request, signal) => after('submit', signal, unsent, () => service.modal(request, signal)),
    begin: (request, signal) => after('submit', signal, unsent, () => service.begin(request, signal)),
    fetchTask: (id, signal) => after('poll', signal, unsent, () => service.fetchTask(id, signal)),
    fetchTasks: (ids, signal) => after('poll', signal, unsent, () => service.fetchTasks(ids, signal)),
    ...(listTasks === undefined
      ? {}
      : { listTasks: (signal) => after('poll', signal, unsent, () => listTasks(signal)) }),
    close: () => service.close(),
  };
  const gatedText: TextService = {
    ask: (request, signal) => after('text', signal, unsent, () => text.ask(request, signal)),
    models: (signal) => text.models(signal),
    close: () => text.close(),
  };
  const gatedArtifacts: ArtifactWriter = {
    save: (request, signal) => after('download', signal, unsaved, () => artifacts.save(request, signal)),
    cut: (request, signal) => artifacts.cut(request, signal),
    keep: (request, signal) => artifacts.keep(request, signal),
    close: () => artifacts.close(),
  };
  return { service: gatedService, text: gatedText, artifacts: gatedArtifacts };
}
