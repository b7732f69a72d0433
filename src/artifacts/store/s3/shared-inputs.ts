import { isSharedInput, largestInput, type SharedInputs, sharedInputName } from '../../inputs.ts';
import type { S3Client } from './client.ts';
import { namesUnder } from './list.ts';

/** Returns the files that the workers of a run share, in its bucket. */
export function bucketInputs(client: S3Client): SharedInputs {
  return {
    put: async (sha256, bytes) => {
      const name = sharedInputName(sha256);
      await client.ask({ method: 'PUT', name, body: bytes, doing: `write "${name}"` });
    },
    get: async (sha256) => {
      const name = sharedInputName(sha256);
      const { body, problem, isTooLarge } = await client.ask({
        method: 'GET',
        name,
        doing: `read "${name}"`,
        maxBytes: largestInput,
        accepts: ({ status, code }) => status === 404 && code !== 'NoSuchBucket',
      });
      return problem === undefined && !isTooLarge ? body : undefined;
    },
    clear: async () => {
      for await (const name of namesUnder(client, 'inputs/'))
        if (isSharedInput(name))
          await client.ask({
            method: 'DELETE',
            name,
            doing: `remove "${name}"`,
            accepts: ({ status }) => status === 404,
          });
    },
  };
}
