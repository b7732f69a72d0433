import { createHash } from 'node:crypto';
import pLimit from 'p-limit';
import { fail } from '../failure.ts';
import { type LoadedImage, type MaskRequest, maxMaskPixels } from '../inputs.ts';
import { inverted, readMaskFile, shownSize, writeMask } from './image.ts';
import { drawShapes, type Levels } from './shapes.ts';

/** Most masks that are kept for the next job: a step has one for all its cells, or one for each size of their images. */
const maxKept = 16;

/** Makes masks, one at a time: unpacked, a large one takes as much memory as a hundred requests. */
export class MaskMaker {
  readonly #turn = pLimit(1);
  /** Kept masks, the least recently used first. */
  readonly #kept = new Map<string, LoadedImage>();
  #keptLength = 0;
  readonly #maxKeptLength: number;

  /** @param maxKeptLength characters of Base64 of all kept masks */
  constructor(maxKeptLength = 16 * 1024 * 1024) {
    this.#maxKeptLength = maxKeptLength;
  }

  /**
   * @param file content of the mask file that the request names
   * @throws SaveError
   */
  async make(request: MaskRequest, file: Buffer | undefined, signal: AbortSignal): Promise<LoadedImage> {
    const { size } = request;
    if (size.width * size.height > maxMaskPixels) {
      fail({
        code: 'mask.too-large',
        class: 'permanent',
        message: `The image is ${shownSize(size)}: too large for a mask (${maxMaskPixels} pixels).`,
      });
    }
    const name = nameOf(request);
    return await this.#turn(async () => {
      signal.throwIfAborted();
      const before = this.#kept.get(name);
      const mask = before ?? (await made(request, file));
      this.#keep(name, mask);
      return mask;
    });
  }

  #keep(name: string, mask: LoadedImage): void {
    if (!this.#kept.delete(name)) this.#keptLength += mask.data.length;
    this.#kept.set(name, mask);
    for (const [oldest, { data }] of this.#kept) {
      if (this.#kept.size <= maxKept && this.#keptLength <= this.#maxKeptLength) return;
      this.#kept.delete(oldest);
      this.#keptLength -= data.length;
    }
  }
}

/** Returns a name that is the same for equal masks. */
function nameOf({ source, invert, size, form }: MaskRequest): string {
  const { width, height } = size;
  const content = source.kind === 'file' ? source.sha256 : source.shapes;
  return createHash('sha256')
    .update(JSON.stringify([content, invert, width, height, form]))
    .digest('hex');
}

async function made(
  { source, invert, size, form }: MaskRequest,
  file: Buffer | undefined,
): Promise<LoadedImage> {
  const levels =
    source.kind === 'shapes'
      ? drawShapes(source.shapes, size)
      : await readMaskFile(file as Buffer, source.path, size);
  const painted: Levels = invert ? inverted(levels) : levels;
  if (!painted.some((level) => level > 0)) {
    fail({
      code: 'mask.empty',
      class: 'permanent',
      message:
        `${source.kind === 'file' ? `The mask ${source.path}` : 'The mask'} leaves nothing to repaint: no pixel of it is ` +
        `white${invert ? ' once it is inverted' : ''}. White is repainted, black and transparent are kept.`,
    });
  }
  const bytes = await writeMask(painted, size, form);
  return { mimeType: 'image/png', data: bytes.toString('base64'), ...size };
}
