import { describe, expect, it } from 'vitest';
import {
  imageExtensions,
  inputType,
  notWanted,
  wordsOfBody,
} from '../../../src/artifacts/download/verify.ts';
import { images, videos } from '../../../src/artifacts/media.ts';

const brand = (name: string): Buffer => Buffer.from(`\0\0\0\x18ftyp${name}\0\0\0\0`, 'latin1');
const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
const found = (body: string | Buffer, media = images): readonly [string, string] => {
  const { class: met, code, message } = notWanted(Buffer.from(body), 'L', media);
  expect(code).toBe(media === images ? 'download.not-image' : 'download.not-video');
  return [met, message];
};

it('images have five extensions', () => {
  expect([...imageExtensions].sort()).toEqual(['avif', 'gif', 'jpg', 'png', 'webp']);
});

describe('the type of an image that is shown to a model', () => {
  it.each([
    ['heic', 'image/heic'],
    ['heix', 'image/heic'],
    ['hevc', 'image/heic'],
    ['mif1', 'image/heif'],
    ['msf1', 'image/heif'],
    ['avif', 'image/avif'],
    ['isom', undefined],
    ['HEIC', undefined],
  ])('of the brand %s is %s', (name, type) => {
    expect(inputType(brand(name))).toBe(type);
  });

  it('is recognised by its position too', () => {
    expect(inputType(png)).toBe('image/png');
    expect(inputType(Buffer.from('\0\0\0\x18ftypheic'.replace('ftyp', 'free'), 'latin1'))).toBeUndefined();
    expect(inputType(Buffer.alloc(0))).toBeUndefined();
  });
});

describe('an answer in place of an image', () => {
  it.each([
    [
      '{"error":"task not found"}',
      'fresh-link',
      'L gave a JSON message (task not found) instead of an image.',
    ],
    ['[1]', 'fresh-link', 'L gave a JSON message ([1]) instead of an image.'],
    ['\uFEFF  {"message":"m"}', 'fresh-link', 'L gave a JSON message (m) instead of an image.'],
    ['<!DOCTYPE html><p>', 'fresh-link', 'L gave a web page instead of an image.'],
    ['<html>', 'fresh-link', 'L gave a web page instead of an image.'],
    ['<HEAD>', 'fresh-link', 'L gave a web page instead of an image.'],
    ['<body>', 'fresh-link', 'L gave a web page instead of an image.'],
    ['<!-- a -->', 'fresh-link', 'L gave a web page instead of an image.'],
    ['<svg width="1">', 'permanent', 'L gave an SVG drawing, which may hold scripts, instead of an image.'],
    [
      '<?xml version="1.0"?><svg>',
      'permanent',
      'L gave an SVG drawing, which may hold scripts, instead of an image.',
    ],
    [
      '<!doctype SVG><svg>',
      'permanent',
      'L gave an SVG drawing, which may hold scripts, instead of an image.',
    ],
    [
      '<?xml version="1.0"?><rss/>',
      'retry',
      'L gave a text (<?xml version="1.0"?><rss/>) instead of an image.',
    ],
    ['a moment, please', 'retry', 'L gave a text (a moment, please) instead of an image.'],
    ['说 (html)', 'retry', 'L gave a text (说 (html)) instead of an image.'],
    ['\x00\x01\x02', 'permanent', 'L gave a file of another kind instead of an image.'],
  ])('is described: %j', (body, met, message) => {
    expect(found(body)).toEqual([met, message]);
  });

  it('is named if it is a file of the other kind', () => {
    expect(found(brand('isom'))).toEqual([
      'permanent',
      'L gave a file of type video/mp4 instead of an image.',
    ]);
    expect(found(png, videos)).toEqual(['permanent', 'L gave a file of type image/png instead of a video.']);
  });

  it('is another kind of file if it is not UTF-8', () => {
    expect(found(Buffer.from('caf\xe9', 'latin1'))).toEqual([
      'permanent',
      'L gave a file of another kind instead of an image.',
    ]);
  });

  it('is shown without secrets, which are removed before the words are cut', () => {
    const mask = (text: string): string => text.replaceAll('s3cret', '***');
    const body = Buffer.from(`${'a'.repeat(197)}s3cret`);
    expect(notWanted(body, 'L', images, mask).message).toBe(
      `L gave a text (${'a'.repeat(197)}***) instead of an image.`,
    );
  });
});

describe('the words of an error response', () => {
  const wordsOf = (body: string) =>
    wordsOfBody(Buffer.from(body), (text) => text.replaceAll('s3cret', '***'));

  it.each([
    ['plain words s3cret', 'plain words ***'],
    ['\uFEFF plain \n words ', 'plain words'],
    ['{"error":{"message":"deep s3cret"}}', 'deep ***'],
    ['{"error":"","message":"m","msg":"n"}', 'm'],
    ['{"msg":"n","description":"d"}', 'n'],
    ['{"description":"d","detail":"t"}', 'd'],
    ['{"detail":"t"}', 't'],
    ['{"error":{"code":7},"detail":"t"}', 't'],
    ['{"code":7}', '{"code":7}'],
    ['{"error":null}', '{"error":null}'],
    ['[{"error":"e"}]', '[{"error":"e"}]'],
    ['{"error":"cut o', '{"error":"cut o'],
  ])('for %j are %j', (body, words) => {
    expect(wordsOf(body)).toBe(words);
  });

  it.each(['<html><p>words</p></html>', '{"error":"<html>words"}', '…', '{}', '\x01\x02', '', ' \n'])(
    'are absent for %j',
    (body) => {
      expect(wordsOf(body)).toBeUndefined();
    },
  );

  it('are read from a whole answer only if it is UTF-8', () => {
    expect(wordsOfBody(Buffer.from('caf\xe9', 'latin1'), (text) => text)).toBeUndefined();
  });
});
