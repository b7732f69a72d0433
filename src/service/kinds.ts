import { type ImageRequest, videoFields } from './image/request.ts';
import type { EntryFields, EntryKind } from './image-service.ts';
import type { KeyPlace } from './key-forms.ts';
import type { Names } from './names.ts';
import { readChatReply } from './text/reply/chat.ts';
import { readTextReply, withNativeNames } from './text/reply/native.ts';
import { chatBody } from './text/request/chat-body.ts';
import { generateBody } from './text/request/generate-body.ts';
import { ChatGatherer } from './text/stream/accumulate-chat.ts';
import { NativeGatherer } from './text/stream/accumulate-native.ts';
import type { TextForm } from './text/stream/reader.ts';
import type { InlineImage, JsonObject, TextCallRequest, TextKind } from './text-service.ts';

/** How a task of one kind is submitted (gateway 2.3, 2.6). */
interface Entry {
  /** Last part of the path (gateway 2.1). */
  readonly path: string;
  /**
   * Returns fields and images under their wire names, with defaults that gateways require.
   *
   * @param fields the declared ones, with a botType
   */
  readonly body: (fields: JsonObject, request: EntryFields) => Pick<ImageRequest, 'fields' | 'images'>;
}

const listed = (images: readonly InlineImage[] = []): ImageRequest['images'] =>
  images.length === 0 ? {} : { base64Array: images };

/** How each kind of task is submitted. */
export const entries: Readonly<Record<EntryKind, Entry>> = {
  imagine: { path: 'imagine', body: (fields, { images }) => ({ fields, images: listed(images) }) },
  blend: {
    path: 'blend',
    body: (fields, { images }) => {
      const { dimensions } = fields;
      const shape = typeof dimensions === 'string' && { dimensions: dimensions.trim().toUpperCase() };
      return { fields: { ...fields, ...shape }, images: listed(images) };
    },
  },
  describe: {
    path: 'describe',
    body: (fields, { images: [image] = [] }) => ({ fields, images: { ...(image && { base64: image }) } }),
  },
  shorten: { path: 'shorten', body: (fields) => ({ fields, images: {} }) },
  video: {
    path: 'video',
    body: (fields, { images = [], taskId }) => {
      // The first frame of an extended video is the last frame of the existing video.
      const [first, last] = fields['extend'] === undefined ? images : [undefined, ...images];
      return {
        fields: videoFields(fields, taskId),
        images: { ...(first && { image: first }), ...(last && { endImage: last }) },
      };
    },
  },
  edit: {
    path: 'edits',
    body: (fields, { images: [image] = [], mask }) => ({
      fields,
      images: { ...(image && { image }), ...(mask && { maskBase64: mask }) },
    }),
  },
};

/** How a text call of one kind is made, and its reply read (gateway 6.1, 7). */
interface TextEndpoint extends TextForm {
  readonly place: KeyPlace;
  readonly path: (model: string, stream: boolean, names: Names) => string;
  readonly body: (request: TextCallRequest, names: Names) => JsonObject;
}

/** The endpoint of each kind of text call. */
export const texts: Readonly<Record<TextKind, TextEndpoint>> = {
  generate: {
    place: 'native',
    path: (model, stream, { nativePath }) =>
      `/${nativePath}/models/${encodeURIComponent(model)}:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
    body: generateBody,
    named: withNativeNames,
    list: 'candidates',
    besides: ['promptFeedback', 'usageMetadata'],
    read: readTextReply,
    gather: () => new NativeGatherer(),
  },
  chat: {
    place: 'chat',
    path: () => '/v1/chat/completions',
    body: chatBody,
    named: (given) => given,
    list: 'choices',
    besides: [],
    read: readChatReply,
    gather: () => new ChatGatherer(),
  },
};
