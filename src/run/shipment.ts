import type { InputAnswer, LoadedImage } from '../artifacts/inputs.ts';
import type { SaveFailure } from '../artifacts/writer.ts';
import type { InlineImage } from '../service/text.ts';
import { MissingInput } from './conversation.ts';
import type { Outgoing } from './outgoing.ts';

/** What came of a request that shows images, or why they could not be read, so that it was not made. */
export type Shipped<T> = { readonly answer: T } | { readonly unread: SaveFailure };

/** An image that could not be read. */
class Unread extends Error {
  readonly failure: SaveFailure;

  constructor(failure: SaveFailure) {
    super(failure.message, { cause: failure.cause });
    this.failure = failure;
  }
}

/** @throws Unread, which {@link ship} takes */
export function read(answer: InputAnswer): LoadedImage {
  if (!answer.ok) throw new Unread(answer.error);
  return answer.value;
}

/** An image as it is sent: its size is nothing that the wire knows. */
export const inlined = ({ mimeType, data }: LoadedImage): InlineImage => ({ mimeType, data });

/**
 * Makes a request that shows images, which are held only while it is under way.
 *
 * @param request reads its images once it holds room for their bytes, of Base64
 */
export async function ship<T>(
  outgoing: Outgoing,
  signal: AbortSignal,
  request: (hold: (bytes: number) => Promise<void>) => Promise<T>,
): Promise<Shipped<T>> {
  let held = 0;
  try {
    const answer = await request(async (bytes) => {
      if (bytes === 0) return;
      await outgoing.take(bytes, signal);
      held = bytes;
    });
    return { answer };
  } catch (error) {
    if (error instanceof Unread) return { unread: error.failure };
    if (error instanceof MissingInput)
      return { unread: { code: 'input.missing', class: 'permanent', message: error.message } };
    if (signal.aborted && error === signal.reason) return { unread: aborted };
    throw error;
  } finally {
    if (held > 0) outgoing.give(held);
  }
}

/** It never left, so it is not in doubt. */
const aborted: SaveFailure = {
  code: 'download.aborted',
  class: 'retry',
  message: 'The run was left before the images of this request were read.',
};
