/** Lets other work have a turn amid a long computation. @throws the signal's reason when it is aborted */
export async function nextTurn(signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve) => {
    setImmediate(resolve);
  });
  signal?.throwIfAborted();
}
