import type { Room } from './arrows.ts';
import { foldersOf, partingOf, type SourceTree } from './source-tree.ts';

type Rooms = Readonly<Record<string, Room>>;
type Orders = Readonly<Record<string, readonly string[]>>;

/** Whether a room may import a file of another room. */
export function mayImport(rooms: Rooms, room: string, to: string, types: boolean): boolean {
  const { imports = [], types: typesOnly = [] } = rooms[room] ?? {};
  return [...imports, ...(types ? typesOnly : [])].some((each) => to === each || to.startsWith(`${each}/`));
}

/** Imports between rooms that the table does not allow, and rooms that it does not name. */
export function refusedBetweenRooms(tree: SourceTree, rooms: Rooms): readonly string[] {
  const unnamed = subFolders(foldersOf(tree).get('')).filter((room) => rooms[room] === undefined);
  const refused = tree.flatMap(({ file, imports }) =>
    imports.flatMap(({ line, to, types }) => {
      const parting = partingOf(file, to);
      if (parting.folder !== '' || parting.from === parting.to) return [];
      // The file beside the rooms, index.ts, exports from all of them; nothing imports it.
      if (!parting.from.endsWith('/') && parting.to.endsWith('/')) return [];
      const room = parting.from.replace('/', '');
      if (mayImport(rooms, room, to, types)) return [];
      return [`${file}:${line} imports ${types ? 'types of ' : ''}${to}: ${ruleOf(rooms, room)}`];
    }),
  );
  return [...unnamed.map((room) => `${room}/ is not in the table of rooms`), ...refused];
}

function ruleOf(rooms: Rooms, room: string): string {
  const { imports = [], types = [] } = rooms[room] ?? {};
  const all = [...imports, ...types.map((each) => `types of ${each}`)];
  return `${room} may import ${all.join(', ') || 'no other room'}`;
}

/** Imports between the sub-folders of one folder that run against their order, and sub-folders that no order names. */
export function refusedBetweenSubFolders(tree: SourceTree, orders: Orders): readonly string[] {
  const unnamed = [...foldersOf(tree)].flatMap(([folder, entries]) => {
    if (folder === '') return [];
    const there = subFolders(entries);
    const named = orders[folder] ?? [];
    return [
      ...there
        .filter((each) => !named.includes(each))
        .map((each) => `${folder}/${each}/ is not in the order of ${folder}`),
      ...named.filter((each) => !there.includes(each)).map((each) => `${folder}/${each}/ does not exist`),
    ];
  });
  const gone = Object.keys(orders).filter((folder) => !foldersOf(tree).has(folder));
  const refused = tree.flatMap(({ file, imports }) =>
    imports.flatMap(({ line, to }) => {
      const { folder, from, to: into } = partingOf(file, to);
      const order = orders[folder] ?? [];
      const [upper, lower] = [order.indexOf(from.replace('/', '')), order.indexOf(into.replace('/', ''))];
      if (!from.endsWith('/') || !into.endsWith('/') || upper < 0 || lower <= upper) return [];
      const before = order.slice(0, upper).join(', ') || 'no other sub-folder';
      return [`${file}:${line} imports ${to}: of ${folder}/, ${from.replace('/', '')} may import ${before}`];
    }),
  );
  return [...gone.map((folder) => `${folder}/ does not exist`), ...unnamed, ...refused];
}

function subFolders(entries: ReadonlySet<string> = new Set()): readonly string[] {
  return [...entries].filter((entry) => entry.endsWith('/')).map((entry) => entry.slice(0, -1));
}
