import type { ServiceFailure } from '../../src/service/result.ts';

/** A failure as the client would give it. */
export function failure(
  code: string,
  kind: ServiceFailure['class'],
  more: Partial<ServiceFailure> = {},
): ServiceFailure {
  const isUnmade = kind === 'retry' && (more.status === 503 || code === 'service.not-ready');
  return {
    code: code as ServiceFailure['code'],
    class: kind,
    message: `${code} (made up)`,
    ...(isUnmade && { unmade: true }),
    ...more,
  };
}
