import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { orders, rooms } from './arrows.ts';

const text = readFileSync(new URL('../../CONTRIBUTING.md', import.meta.url), 'utf8');
const rows = [...text.matchAll(/^\| \*{0,2}`([\w/-]+)\/`\*{0,2} \| (.+) \| (.+) \|$/gm)].map(
  ([, folder = '', purpose = '', imports = '']) => ({ folder, purpose, imports }),
);

test('CONTRIBUTING has a row for every room and its folders, in the order of the arrows', () => {
  expect(rows.map(({ folder }) => folder)).toEqual(
    Object.keys(rooms).flatMap((room) => [room, ...(orders[room] ?? []).map((each) => `${room}/${each}`)]),
  );
});

test('a row of CONTRIBUTING names the folders one level deeper, in the order of the arrows', () => {
  const deeper = rows.flatMap(({ folder, purpose }) => {
    const order = orders[folder] ?? [];
    const named = [...purpose.matchAll(/`([\w-]+)`/g)].map(([, name = '']) => name);
    return folder.includes('/') && order.length > 0
      ? [{ folder, named: named.filter((name) => order.includes(name ?? '')), order }]
      : [];
  });
  expect(deeper.length).toBeGreaterThan(8);
  for (const { folder, named, order } of deeper) expect({ folder, named }).toEqual({ folder, named: order });
});

test('CONTRIBUTING names what each room may import', () => {
  const wanted = Object.entries(rooms).map(([room, { imports, types = [] }]) => {
    const names = [...new Set([...imports, ...types].map((path) => path.replace(/\/.*/, '')))].sort();
    return { room, names: names.length === Object.keys(rooms).length - 1 ? ['all'] : names };
  });
  const named = rows.flatMap(({ folder: room, imports }) => {
    if (room.includes('/')) return [];
    const names = [...imports.matchAll(/`([a-z]+)(?:\/[\w/-]*)?`/g)].map(([, name = '']) => name);
    return [{ room, names: imports === 'all rooms' ? ['all'] : [...new Set(names)].sort() }];
  });
  expect(named).toEqual(wanted);
});
