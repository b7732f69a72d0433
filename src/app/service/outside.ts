import { createArtifactWriter } from '../../artifacts/artifact-writer.ts';
import { createInputReader, type InputReaderOptions } from '../../artifacts/input/reader.ts';
import type { InputReader } from '../../artifacts/inputs.ts';
import type { ArtifactStore } from '../../artifacts/store/store.ts';
import type { ReplyKeeper } from '../../artifacts/write-reply.ts';
import type { ArtifactWriter } from '../../artifacts/writer.ts';
import type { Pipeline } from '../../pipeline/pipeline.ts';
import type { MemoryReading } from '../../run/events.ts';
import { createImageService } from '../../service/client.ts';
import type { KnownEndpoints } from '../../service/failures/known-endpoints.ts';
import type { BodyPool } from '../../service/http/body/budget.ts';
import { dataMaskOf, secretMaskOf } from '../../service/http/secrets.ts';
import type { ImageService } from '../../service/image-service.ts';
import type { TextService } from '../../service/text-service.ts';
import type { Disposables } from '../adapters/disposables.ts';
import type { Io, Machine } from '../output/io.ts';
import { connectingTo, openTextService, serviceOptions } from './clients.ts';
import { linkOptions } from './downloads.ts';
import type { AdmittedService } from './trust.ts';

/** The connections of a run to its service and its links. */
export interface Outside {
  readonly images: ImageService;
  readonly text: TextService;
  /** Reads the images that text calls send. */
  readonly inputs: InputReader;
  /** Returns the writer that keeps the files of jobs; their replies are committed with the state. */
  writerFor(replies: ReplyKeeper): ArtifactWriter;
  readonly memory: () => ReturnType<typeof memoryOf>;
  /** Masks secrets in messages. */
  readonly mask: (text: string) => string;
}

/**
 * Opens the connections of a run. `disposables` closes them.
 *
 * @param of.baseUrl address for requests, also in a rehearsal
 * @param of.shared files of the pipeline that this machine may lack
 * @param say.keyForm called once if the service accepts the key in another form
 * @param say.notice called with messages about links that are shown once
 */
export function openOutside(
  of: Pick<InputReaderOptions, 'filesRoot' | 'shared'> & {
    readonly pipeline: Pipeline;
    readonly service: AdmittedService;
    readonly baseUrl: string;
    readonly endpoints: KnownEndpoints;
    readonly store: ArtifactStore;
  },
  say: { readonly keyForm: (words: string) => void; readonly notice: (words: string) => void },
  { env, machine }: Pick<Io, 'env' | 'machine'>,
  disposables: Disposables,
): Outside {
  const { pipeline, service, baseUrl, endpoints, store, filesRoot, shared } = of;
  const { timeouts, source, retry } = pipeline;
  const { requestMs } = timeouts;
  const connecting = connectingTo(service, pipeline, env);
  const mask = secretMaskOf(service.secrets);
  const dataMask = dataMaskOf(service.credentials);
  const own = serviceOptions(baseUrl, service, requestMs, connecting, disposables);
  const options = { ...own, endpoints, quotaWords: retry.quota ?? [] };
  const images = createImageService({ ...options, clicks: service.clicks, onKeyForm: say.keyForm });
  disposables.add(() => images.close());
  const { clock } = machine;
  const { notice } = say;
  const links = linkOptions({ baseUrl, requestMs, mask, dataMask, clock, notice }, connecting, disposables);
  const place = { store, folder: source.folder, filesRoot, ...(shared && { shared }) };
  const inputs = createInputReader({ ...links, ...place });
  disposables.add(() => inputs.close());
  return {
    images,
    text: openTextService(options, timeouts, disposables),
    inputs,
    writerFor: (replies) => {
      const writer = createArtifactWriter({ ...links, store, replies });
      disposables.add(() => writer.close());
      return writer;
    },
    memory: () => memoryOf(machine, options.bodies),
    mask,
  };
}

/** Returns the memory use of this process, and the part that responses of the service take. */
export function memoryOf(machine: Pick<Machine, 'memory'>, bodies: BodyPool): MemoryReading {
  const { rss, heapUsed, external, arrayBuffers } = machine.memory();
  return {
    rssBytes: rss,
    heapBytes: heapUsed,
    externalBytes: external,
    arrayBufferBytes: arrayBuffers,
    answerBytes: bodies.held,
    maxAnswerBytes: bodies.most,
    answersWaiting: bodies.waiting,
  };
}
