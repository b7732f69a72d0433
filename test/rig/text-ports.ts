import type { InputReader } from '../../src/artifacts/inputs.ts';
import type { KeepRequest, KeepResult } from '../../src/artifacts/writer.ts';
import type { TextService } from '../../src/service/text-service.ts';
import { placeOf } from './kept-replies.ts';

/** The ports of a run in which nothing is asked. */
export const noText: { readonly text: TextService; readonly inputs: InputReader } = {
  text: {
    ask: () => Promise.reject(new Error('no text is asked for here')),
    models: () => Promise.reject(new Error('no models are asked for here')),
    close: () => Promise.resolve(),
  },
  inputs: {
    load: () => Promise.reject(new Error('nothing is shown here')),
    mask: () => Promise.reject(new Error('nothing is masked here')),
  },
};

/** What a writer that keeps everything says, with files and a reply of which only the names are true. */
export function keptNowhere({ key, pieces, answer }: KeepRequest): Promise<KeepResult> {
  return Promise.resolve({
    ok: true,
    value: {
      artifacts: pieces.flatMap(({ kind, candidate }, at) =>
        kind === 'text'
          ? []
          : [
              {
                output: at + 1,
                file: `images/${key}-${at + 1}`,
                bytes: 1,
                sha256: key,
                mime: 'image/png',
                candidate,
              },
            ],
      ),
      ...(answer === undefined ? {} : { reply: placeOf(0) }),
    },
  });
}
