import type { SharedInputs } from '../../../artifacts/inputs.ts';
import type { ArtifactStore } from '../../../artifacts/store/store.ts';
import type { Work } from '../../../engine/worker.ts';
import type { Pipeline } from '../../../pipeline/pipeline.ts';
import type { ResultStore } from '../../../run/ports.ts';
import { createImageService } from '../../../service/client.ts';
import type { KnownEndpoints } from '../../../service/failures/known-endpoints.ts';
import { dataMaskOf, secretMaskOf } from '../../../service/http/secrets.ts';
import type { Disposables } from '../../adapters/disposables.ts';
import { memoryOf } from '../../adapters/memory.ts';
import type { Context } from '../../context.ts';
import { failureText } from '../../errors/render.ts';
import { takingOn } from '../../run/doubt/find-tasks.ts';
import { connectingTo, openTextService, serviceOptions } from '../../service/clients.ts';
import { linkOptions, openArtifacts, openInputs } from '../../service/downloads.ts';
import type { AdmittedService } from '../../service/trust.ts';

/** What a worker needs to reach all that is outside of a run. */
export interface OutsideOf {
  readonly pipeline: Pipeline;
  readonly service: AdmittedService & { readonly baseUrl: string };
  readonly endpoints: KnownEndpoints;
  readonly filesRoot: string;
  readonly artifacts: ArtifactStore;
  /** Files of the pipeline that this machine may not have. */
  readonly shared: SharedInputs;
  /** Absent: they go to a folder. */
  readonly results?: ResultStore;
  /** The folder that its files go to; absent: a bucket. */
  readonly directory?: string;
}

/** What a run asks of the outside, as one worker does. `disposables` closes it. */
export function openOutside(of: OutsideOf, { io }: Context, disposables: Disposables): Work['ports'] {
  const { pipeline, service, endpoints, filesRoot, directory } = of;
  const { timeouts, source, retry } = pipeline;
  const { baseUrl } = service;
  const connecting = connectingTo(service, pipeline, io.env);
  const mask = secretMaskOf(service.secrets);
  const dataMask = dataMaskOf(service.credentials);
  const own = serviceOptions(baseUrl, service, timeouts.requestMs, connecting, disposables);
  const options = { ...own, endpoints, quotaWords: retry.quota ?? [] };
  const warn = (words: string): void => io.err(failureText(`warning: ${words}`));
  const images = createImageService({ ...options, clicks: service.clicks, onKeyForm: warn });
  disposables.add(() => images.close());
  const text = openTextService(options, timeouts, disposables);
  const links = linkOptions(
    { baseUrl, requestMs: timeouts.requestMs, mask, dataMask, clock: io.machine.clock, notice: warn },
    connecting,
    disposables,
  );
  const inputs = openInputs(
    { store: of.artifacts, folder: source.folder, filesRoot, shared: of.shared },
    links,
    disposables,
  );
  return async (store) => ({
    // Tasks of submissions that an older state does not know.
    service: await takingOn(images, store.reader),
    text,
    inputs,
    // Of each session of the worker: replies go with its own commits.
    artifacts: openArtifacts({ artifacts: of.artifacts, state: store }, links, disposables),
    ...(of.results && { results: of.results }),
    memory: () => memoryOf(io.machine, options.bodies),
    ...(directory === undefined
      ? {}
      : {
          disk: {
            directory,
            freeBytes: () => io.freeBytes(directory),
            jobsLeft: undefined,
            made: { jobs: 0, bytes: 0 },
          },
        }),
  });
}
