import { createArtifactWriter } from '../artifacts/artifact-writer.ts';
import type { ArtifactWriter } from '../artifacts/writer.ts';
import { createDispatcher } from '../service/dispatcher.ts';
import type { Closing } from './closing.ts';
import type { Environment } from './io.ts';

const proxyVariables = ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'HTTPS_PROXY'];

/** The longest that one download may take, however steadily it comes; more where a request may take more. */
const leastTotalMs = 600_000;

/** What brings images into a run directory. A proxy of the environment is used for downloads as for requests. */
export function openArtifacts(
  to: {
    readonly directory: string;
    readonly baseUrl: string;
    readonly connections: number;
    readonly connectMs: number;
    /** The longest silence of a server, in ms. */
    readonly requestMs: number;
    /** Undefined: no proxy, as for a service on this machine. */
    readonly env: Environment | undefined;
    /** Takes secrets out of what servers say. */
    readonly mask: (text: string) => string;
  },
  closing: Closing,
): ArtifactWriter {
  const { directory, baseUrl, connections, connectMs, requestMs, env, mask } = to;
  const timeouts = { idleMs: requestMs, totalMs: Math.max(leastTotalMs, requestMs) };
  if (env === undefined || !proxyVariables.some((name) => (env[name] ?? '') !== '')) {
    return createArtifactWriter({ directory, baseUrl, connections, timeouts, mask });
  }
  const dispatcher = createDispatcher({ connections, connectMs, env });
  closing.add(() => dispatcher.destroy());
  return createArtifactWriter({ directory, baseUrl, connections, timeouts, mask, dispatcher });
}
