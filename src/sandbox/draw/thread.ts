import { parentPort } from 'node:worker_threads';
import { drawOrder, type Order } from './order.ts';

/** An order to a thread that draws, with the images and masks that are in it by their hashes. */
export interface ThreadOrder {
  readonly id: number;
  readonly order: Order;
  readonly images: ReadonlyMap<string, Uint8Array>;
}

/** What came of an order: the bytes of the file, or what failed. */
export type ThreadReply =
  | { readonly id: number; readonly bytes: Uint8Array }
  | { readonly id: number; readonly failure: unknown };

async function replyTo({ id, order, images }: ThreadOrder): Promise<ThreadReply> {
  try {
    return { id, bytes: await drawOrder(order, (sha256) => Buffer.from(images.get(sha256) ?? [])) };
  } catch (failure) {
    return { id, failure };
  }
}

parentPort?.on('message', (order: ThreadOrder) => {
  void replyTo(order).then((reply) => parentPort?.postMessage(reply));
});
