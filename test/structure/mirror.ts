import { foldersOf, type SourceTree } from './source-tree.ts';

/** Folders of tests below a room that are no folders of `src`, with the reason why each is there. */
export const foldersOfTheirOwn: Readonly<Record<string, string>> = {
  'artifacts/children': 'programs that the tests of artifacts start as processes of their own',
  'state/children': 'programs that the tests of state start as processes of their own',
};

/** Folders below a room in `test` that the room does not have in `src`, and exceptions that nothing needs. */
export function foldersWithoutSource(
  tests: SourceTree,
  src: SourceTree,
  exceptions: Readonly<Record<string, string>>,
): readonly string[] {
  const there = foldersOf(src);
  const without = [...foldersOf(tests).keys()].filter((folder) => {
    const [room = ''] = folder.split('/');
    return room !== '' && there.has(room) && !there.has(folder);
  });
  return [
    ...without
      .filter((folder) => exceptions[folder] === undefined)
      .map((folder) => `test/${folder}/ has no folder src/${folder}/`),
    ...Object.keys(exceptions)
      .filter((folder) => !without.includes(folder))
      .map((folder) => `test/${folder}/ needs no exception`),
  ];
}
