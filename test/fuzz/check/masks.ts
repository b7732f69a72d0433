import { SaveError } from '../../../src/artifacts/failure.ts';
import { largestMask } from '../../../src/artifacts/inputs.ts';
import { MaskMaker } from '../../../src/artifacts/masks/draw.ts';
import { boxError } from '../../../src/pipeline/steps/domain/mask.ts';
import type { MaskShape } from '../../../src/plan/job-request.ts';
import { type Input, streamOf, textOf } from '../input.ts';
import { Broken, lawfulText, type Run } from './law.ts';

/** The checks of masks: files of whatever bytes, and shapes in images of any size. */

const codes = new Set(['mask.type', 'mask.size', 'mask.empty', 'mask.too-large']);
const never = new AbortController().signal;
const pngBegin = Buffer.from('89504e470d0a1a0a', 'hex');

type Request = Parameters<MaskMaker['make']>[0];

async function made(request: Request, file?: Buffer): Promise<readonly string[]> {
  try {
    const { mimeType, data, width, height } = await new MaskMaker().make(request, file, never);
    const bytes = Buffer.from(data, 'base64');
    if (mimeType !== 'image/png' || !bytes.subarray(0, 8).equals(pngBegin)) throw new Broken('It is no PNG.');
    if (bytes.length > largestMask) throw new Broken(`The mask has ${bytes.length} bytes.`);
    const { size } = request;
    const reported = [width, height, bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
    const wanted = [size.width, size.height, size.width, size.height];
    if (reported.join() !== wanted.join())
      throw new Broken(`It is ${reported.join()} and not ${wanted.join()}.`);
    return ['mask'];
  } catch (error) {
    if (!(error instanceof SaveError)) throw error;
    const { code, class: kind, message } = error.failure;
    if (!codes.has(code) || kind !== 'permanent')
      throw new Broken(`It fails with ${code}, ${kind}: ${message}`);
    if (message.length > 10_000) throw new Broken(`${code} is said in ${message.length} characters.`);
    lawfulText(message, code);
    return [code];
  }
}

/** A file where a mask is waited for, or shapes as JSON: `{ size, invert, shapes }`. */
export function maskRun(input: Input): Run {
  if (input.form === 'shapes')
    return async () => {
      const { width, height, invert, shapes } = JSON.parse(textOf(input)) as {
        width: number;
        height: number;
        invert: boolean;
        shapes: readonly MaskShape[];
      };
      // What no pipeline can say does not come so far.
      const boxes = shapes.map((shape) => ('rectangle' in shape ? shape.rectangle : shape.ellipse));
      if (boxes.some((box) => boxError(box) !== undefined)) return ['mask.box'];
      const source = { kind: 'shapes', shapes } as const;
      return await made({ source, invert, size: { width, height }, form: 'white' });
    };
  return async () => {
    const chunks: Buffer[] = [];
    for await (const chunk of streamOf(input)) chunks.push(chunk);
    const source = { kind: 'file', path: 'masks/m.png', sha256: 'x' } as const;
    const size = { width: 8, height: 8 };
    const form = input.form === 'transparent' ? 'transparent' : 'white';
    return await made({ source, invert: false, size, form }, Buffer.concat(chunks));
  };
}
