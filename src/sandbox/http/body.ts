import type { IncomingMessage } from 'node:http';

/** A request's body, or why there is none. */
export type Body =
  | { readonly kind: 'whole'; readonly bytes: Buffer }
  | { readonly kind: 'too-large' }
  /** The client went away. */
  | { readonly kind: 'lost' };

/** Reads a body of at most `limit` bytes; what comes beyond it is thrown away unread. */
export function readRequestBody(request: IncomingMessage, limit: number): Promise<Body> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let length = 0;
    request.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length > limit) {
        chunks.length = 0;
        resolve({ kind: 'too-large' });
      } else {
        chunks.push(chunk);
      }
    });
    request.on('end', () => resolve({ kind: 'whole', bytes: Buffer.concat(chunks) }));
    request.on('error', () => resolve({ kind: 'lost' }));
    request.on('close', () => resolve({ kind: 'lost' }));
  });
}
