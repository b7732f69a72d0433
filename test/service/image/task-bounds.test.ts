import { describe, expect, test } from 'vitest';
import type { RequestFacts } from '../../../src/service/failures/request-context.ts';
import { splitPrompts } from '../../../src/service/image/prompts.ts';
import { imageBytes } from '../../../src/service/image/request.ts';
import { toTask } from '../../../src/service/image/task.ts';
import { isUsableTaskId, readTaskId, readTaskIds } from '../../../src/service/image/task-id.ts';
import { readLinks } from '../../../src/service/image/task-links.ts';

const same = (text: string): string => text;
const facts: RequestFacts = {
  safe: true,
  label: 'GET /img/task/1/fetch',
  baseUrl: 'https://x.test',
  mask: same,
  dataMask: (text) => text.replaceAll('secret', '[secret]'),
  clean: same,
  now: () => 0,
};
const task = (record: object) => toTask('1', { status: 'SUCCESS', ...record }, facts);

describe('the kept part of a finished task', () => {
  test('has 100 buttons, each with an id of at most 1,000 characters', () => {
    const buttons = Array.from({ length: 101 }, (_, n) => ({
      customId: `id ${n}`,
      label: `U${n}`,
      emoji: '',
    }));
    expect(task({ buttons }).buttons).toEqual(buttons.slice(0, 100));
    const ofLength = (length: number) => task({ buttons: [{ customId: 'x'.repeat(length) }] }).buttons;
    expect(ofLength(1000)).toEqual([{ customId: 'x'.repeat(1000), label: '', emoji: '' }]);
    expect(ofLength(1001)).toEqual([]);
    expect(ofLength(0)).toEqual([]);
  });

  test('has labels of 200 whole characters', () => {
    const label = (text: string) => task({ buttons: [{ customId: 'a', label: text, emoji: text }] }).buttons;
    const [whole, cut] = ['x'.repeat(200), `${'x'.repeat(200)}…`];
    expect(label(whole)).toEqual([{ customId: 'a', label: whole, emoji: whole }]);
    expect(label('x'.repeat(201))).toEqual([{ customId: 'a', label: cut, emoji: cut }]);
    expect(label(`${'x'.repeat(199)}🦊`)[0]?.label).toBe(`${'x'.repeat(199)}…`);
  });

  test.each(['customId', 'label', 'emoji'])('has no button whose %s holds a secret', (name) => {
    const fine = { customId: 'b', label: 'U2', emoji: '' };
    const { buttons } = task({
      buttons: [{ customId: 'a', label: 'U1', emoji: '', [name]: 'a secret' }, fine],
    });
    expect(buttons).toEqual([fine]);
  });

  test('has a tag of at most 255 characters', () => {
    expect(task({ state: 'x'.repeat(255) }).tag).toBe('x'.repeat(255));
    expect(task({ state: 'x'.repeat(256) })).not.toHaveProperty('tag');
  });

  test.each([
    ['93%', 93],
    [' 7.5 % ', 7.5],
    ['42', 42],
    [42, 42],
    ['100%', 100],
    ['300%', 100],
    ['0%', 0],
    ['Waiting', undefined],
    ['-5%', undefined],
    ['1000%', undefined],
    [`${' '.repeat(98)}5%`, 5],
    [`${' '.repeat(99)}5%`, undefined],
  ])('has the progress %j as %s', (progress, percent) => {
    expect(task({ progress }).progress).toBe(percent);
  });

  test.each([
    [1_700_000_000_000, 1_700_000_000_000],
    [1, 1],
    [0, undefined],
    [-1, undefined],
    [null, undefined],
  ])('has the submission time %s as %s', (submitTime, at) => {
    expect(task({ submitTime }).submittedAt).toBe(at);
  });

  test.each([
    ['SUCCESS', 'success'],
    ['FAILURE', 'failure'],
    ['CANCEL', 'failure'],
    ['MODAL', 'modal'],
    ['IN_PROGRESS', 'unfinished'],
    ['', 'unfinished'],
    ['success', 'success'],
    [' Success ', 'success'],
    ['Failed', 'failure'],
    ['ERROR', 'failure'],
    ['canceled', 'failure'],
    ['queued', 'unfinished'],
  ])('has the status %j as %s', (status, state) => {
    expect(task({ status, failReason: 'why' })).toMatchObject({ status, state });
    expect(task({ status, failReason: 'why' }).failReason).toBe(state === 'success' ? undefined : 'why');
  });
});

describe('the links of a task', () => {
  const links = (record: Readonly<Record<string, unknown>>) => readLinks(record, facts);

  test('are at most 25 of a list, of 16,384 characters each', () => {
    const many = Array.from({ length: 26 }, (_, n) => `https://x.test/${n}.mp4`);
    expect(links({ videoUrls: many }).videoUrls).toEqual(many.slice(0, 25));
    const long = `https://x.test/${'x'.repeat(16_384)}`;
    expect(links({ imageUrl: long }).imageUrl).toBe(long.slice(0, 16_384));
  });

  test('are those of a video once each, and its poster beside them', () => {
    const [film, poster] = ['https://x.test/a.mp4', 'https://x.test/a.png'];
    expect(links({ imageUrl: film, imageUrls: [poster, film, 'https://x.test/b.MOV'] })).toEqual({
      imageUrl: poster,
      videoUrls: [film, 'https://x.test/b.MOV'],
    });
    expect(links({ imageUrl: film })).toEqual({ videoUrls: [film] });
    // A link beside the list leads to one of its films.
    const spare = 'https://y.test/a.mp4';
    expect(links({ videoUrls: [film], videoUrl: spare })).toEqual({
      videoUrls: [film],
      spareVideoUrl: spare,
    });
    expect(links({ videoUrls: [film], videoUrl: film })).toEqual({ videoUrls: [film] });
    const two = [film, 'https://x.test/b.mp4'];
    expect(links({ videoUrls: two, videoUrl: spare })).toEqual({ videoUrls: two, spareVideoUrl: spare });
    expect(links({ videoUrls: two, videoUrl: two[1] })).toEqual({ videoUrls: two });
    expect(links({ imageUrl: 'https://x.test/a.mp4.png' })).toEqual({ imageUrl: 'https://x.test/a.mp4.png' });
    expect(links({ imageUrl: 'https://x.test/a?b=.mp4' })).toEqual({ imageUrl: 'https://x.test/a?b=.mp4' });
  });

  test('that hold a secret are left out', () => {
    expect(links({ imageUrl: 'https://x.test/secret.png' })).toEqual({ imageUrl: '[secret]' });
  });
});

describe('a task id', () => {
  test.each<readonly [unknown, string | undefined]>([
    [' 1700000000000001 ', '1700000000000001'],
    [1_700_000_000_000, '1700000000000'],
    [12_345_678_901_234_567_890n, '12345678901234567890'],
    [1, '1'],
    [1n, '1'],
    [0, undefined],
    [0n, undefined],
    [-1, undefined],
    [-1n, undefined],
    [1.5, undefined],
    [2 ** 53, undefined],
    ['x'.repeat(256), 'x'.repeat(256)],
    ['x'.repeat(257), undefined],
    ['', undefined],
    ['.', undefined],
    ['..', undefined],
    ['...', '...'],
    ['a b', undefined],
    ['a,b', undefined],
    ['a\u0000b', undefined],
    ['a\uD83E', undefined],
    [null, undefined],
    [['1'], undefined],
    [true, undefined],
  ])('of the result %s is %s', (result, id) => {
    expect(readTaskId(result)).toBe(id);
    expect(isUsableTaskId(id ?? '')).toBe(id !== undefined);
  });

  test.each<readonly [unknown, readonly string[]]>([
    ['17,18', ['17', '18']],
    [' 17 , 18 ', ['17', '18']],
    [
      ['17', 18, 19n],
      ['17', '18', '19'],
    ],
    ['17', []],
    [['17'], []],
    ['17,', []],
    ['17,words', []],
    ['no, thanks', []],
    [Array.from({ length: 11 }, (_, n) => n + 1), Array.from({ length: 10 }, (_, n) => String(n + 1))],
    [17, []],
    [null, []],
  ])('of the several results %s is %j', (result, ids) => {
    expect(readTaskIds(result)).toEqual(ids);
  });
});

test('keeps up to 8,000 characters of a prompt that a describe suggests', () => {
  expect(splitPrompts('x'.repeat(8000))).toEqual(['x'.repeat(8000)]);
  expect(splitPrompts('x'.repeat(8001))).toEqual(['x'.repeat(8000)]);
});

test('the size of a request is that of all its images together', () => {
  const image = (length: number) => ({ mimeType: 'image/png', data: 'A'.repeat(length) });
  const images = { base64Array: [image(3), image(40)], image: image(500) };
  expect(imageBytes({ fields: {}, images, extra: undefined, tag: undefined })).toBe(543);
});
