import { members } from '../http/json.ts';
import type { TaskButton } from '../image-service.ts';
import { withExtra } from '../text/request/fields.ts';
import type { InlineImage, JsonObject } from '../text-service.ts';

/** Prefix of the customIds of {@link changeButtons}; no gateway uses it. */
export const changePrefix = 'change::';

const button = (customId: string, label: string, emoji = '') => ({
  customId: `${changePrefix}${customId}`,
  label,
  emoji,
});

/** The actions of `change` on a grid (gateway 2.4), as the buttons that other gateways show. */
export const changeButtons: readonly TaskButton[] = [
  ...[1, 2, 3, 4].map((index) => button(`upsample::${index}`, `U${index}`)),
  button('reroll', '', '🔄'),
  ...[1, 2, 3, 4].map((index) => button(`variation::${index}`, `V${index}`)),
];

/** Returns the fields of `change` that press the button of a customId; undefined: `change` has no such action. */
export function changeOf(customId: string): JsonObject | undefined {
  if (/(?:^|::)reroll(?:::|$)/i.test(customId)) return { action: 'REROLL' };
  const [, word, index] = /(?:^|::)(upsample|variation)::([1-4])(?:::|$)/i.exec(customId) ?? [];
  if (word === undefined) return undefined;
  return { action: word.toLowerCase() === 'upsample' ? 'UPSCALE' : 'VARIATION', index: Number(index) };
}

/** The content of a submission. */
export interface ImageRequest {
  /** Fields by their wire names, without images. */
  readonly fields: JsonObject;
  /** Images by their wire names. */
  readonly images: Readonly<Record<string, InlineImage | readonly InlineImage[]>>;
  readonly extra: JsonObject | undefined;
  /** Tag that is sent as `state`, which the service echoes in the task (gateway 2.2). */
  readonly tag: string | undefined;
}

/**
 * Returns the fields of a video on the wire. Some gateways require `motion`, others use low without it (gateway 2.6). The number of the
 * extended video counts from 1 in a pipeline, as the buttons do, and from 0 on the wire. A rendered template is text, even where the
 * wire needs another type.
 */
export function videoFields({ extend, ...fields }: JsonObject, taskId: string | undefined): JsonObject {
  const { motion, batchSize, loop } = fields;
  const which = toNumber(extend);
  return {
    motion: 'low',
    ...fields,
    ...(typeof motion === 'string' && { motion: motion.trim().toLowerCase() }),
    ...(batchSize !== undefined && { batchSize: toNumber(batchSize) }),
    ...(loop !== undefined && { loop: toBoolean(loop) }),
    ...(which !== undefined && {
      action: 'extend',
      ...(taskId !== undefined && { taskId }),
      index: typeof which === 'number' ? which - 1 : which,
    }),
  };
}

/** Converts a text to a number; returns any other value unchanged, for the service to check. */
function toNumber(value: unknown): unknown {
  const plain: unknown = value === undefined ? undefined : JSON.parse(JSON.stringify(value));
  return typeof plain === 'string' && /^\s*\d{1,9}\s*$/.test(plain) ? Number(plain) : plain;
}

function toBoolean(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  const word = value.trim().toLowerCase();
  return word === 'true' ? true : word === 'false' ? false : value;
}

/** Builds the body. `extra` may add fields and override all others, because gateways do not agree on their names. */
export function imageBody({ fields, images, extra, tag }: ImageRequest): JsonObject {
  const inline = Object.entries(images).map(([name, shown]): readonly [string, unknown] => [
    name,
    'data' in shown ? dataUri(shown) : shown.map(dataUri),
  ]);
  const body = { ...fields, ...Object.fromEntries(inline), ...(tag !== undefined && { state: tag }) };
  return withExtra(body, extra);
}

const dataUri = ({ mimeType, data }: InlineImage): string => `data:${mimeType};base64,${data}`;

/** Returns the bytes of the images alone, so that a request that is far too large is never built. */
export const imageBytes = ({ images }: ImageRequest): number =>
  Object.values(images).reduce(
    (sum, shown) => sum + ('data' in shown ? [shown] : shown).reduce((all, { data }) => all + data.length, 0),
    0,
  );

/** Pipeline names of fields with another name on the wire. */
const partNames: Readonly<Record<string, string>> = {
  base64Array: 'images',
  base64: 'image',
  maskBase64: 'mask',
};

/** Returns the parts of a request, by the names that its author knows, to find the largest. */
export function imageParts({ fields, images, extra }: ImageRequest): JsonObject {
  const parts: Record<string, unknown> = { ...fields };
  for (const [wire, shown] of Object.entries(images)) {
    const name = partNames[wire] ?? wire;
    if ('data' in shown) parts[name] = shown.data;
    else
      shown.forEach(({ data }, i) => {
        parts[`${name}[${i}]`] = data;
      });
  }
  for (const [name, value] of Object.entries(members(extra) ?? {})) parts[`extra.${name}`] = value;
  return parts;
}
