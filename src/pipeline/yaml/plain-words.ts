import type { YAMLError } from 'yaml';

interface PlainWords {
  readonly message: string;
  readonly hint: string;
}

type Words = readonly [said: RegExp, message: string, hint: string];

/** Messages by the start of the YAML library's message (yaml 2, compose/*.js and doc/*.js); the first match counts. */
const words: readonly Words[] = [
  [
    /^Plain value cannot start with/,
    'A text cannot begin with this character, unless it is in quotes.',
    'Put the whole text in double quotes.',
  ],
  [
    /at node end$/,
    'There is text after the end of a value.',
    'Put the whole value in quotes, or remove the text after it.',
  ],
  [
    /^Unexpected (?:empty item|,) in /,
    'A value is missing before this comma.',
    'Write the value, or remove the comma.',
  ],
  [
    /^(?:Missing ,|Missing , or :) /,
    'A comma is missing between two items of a list or mapping in brackets.',
    'Write a comma between the items; put a text with other characters than letters in quotes.',
  ],
  [/^Missing space after :/, 'A space is missing after this colon.', 'Write key: value, with a space.'],
  [
    /^Implicit keys of flow/,
    'A key in brackets and its colon are on different lines.',
    'Write key: value on one line.',
  ],
  [
    /^Implicit keys|^Implicit map keys/,
    'A key and its colon are on different lines, or the colon is missing.',
    'Write key: value on one line.',
  ],
  [
    /^Not a YAML token/,
    'YAML cannot read this text.',
    'Put the whole value in quotes; begin a long text after | or > on the next line, indented.',
  ],
  [
    /^Unexpected flow-(?:seq|map)-end/,
    'This bracket closes nothing: none is open here.',
    'Remove the bracket, or put the whole value in quotes.',
  ],
  [
    /^Unexpected block-seq-ind/,
    'A list begins after other text on its line.',
    'Begin the list on a new line, indented below its key.',
  ],
  [/^Sequence item without/, 'An item of a list has no "-".', 'Begin each item of the list with "- ".'],
  [
    /^Invalid escape sequence/,
    'A backslash in double quotes begins a code that YAML does not know.',
    'Write \\\\ for a backslash, or put the text in single quotes.',
  ],
  [
    /^Comments must be separated/,
    'There is no space before this #, so it does not begin a comment.',
    'Put a space before the #, or put the text in quotes.',
  ],
  [
    /^Block scalar header includes extra/,
    'There is text after the | or > that begins a long text.',
    'Begin the text on the next line, indented.',
  ],
  [
    /^Nested mappings are not allowed|^A block sequence may not/,
    'A second key, or a list, is on the line of a key.',
    'Put it on the next line, indented; put a text with ": " in quotes.',
  ],
  [
    /^(?:A )?(?:Alias|alias|Anchor|anchor)|^Anchors? |^An alias|^Tags and anchors/,
    'An anchor (&name) or an alias (*name) is not well formed.',
    'An anchor is &name before a value, an alias is *name in its place; put a text that begins with & or * in quotes.',
  ],
  [/^A node can have at most one/, 'A value has two tags or two anchors.', 'Remove one of them.'],
  [
    /must be at most 1024 chars/,
    'The key before this colon is longer than 1024 characters.',
    'Put the whole text in quotes, if the colon is a part of it.',
  ],
];

const others: Readonly<Partial<Record<string, PlainWords>>> = {
  BAD_INDENT: {
    message: 'This line is indented differently from the lines that belong to it.',
    hint: 'Indent the keys of one mapping alike, and what is inside a key two spaces further.',
  },
  BLOCK_IN_FLOW: {
    message: 'A comma is missing inside brackets, or they are not closed before this line.',
    hint: 'Write a comma between two items, and close each [ with ] and each { with }.',
  },
  BAD_DIRECTIVE: {
    message: 'A line that begins with % is an instruction to the YAML reader, but not a known one.',
    hint: 'Remove the line, or put the text in quotes.',
  },
  MULTIPLE_DOCS: {
    message: 'The file contains more than one YAML document.',
    hint: 'One file is one pipeline: put the text after `---` into a separate file, or remove it.',
  },
};

/** Explains an error of the YAML library in plain words, without YAML's internal terms. */
export function plainWords({ code, message }: Pick<YAMLError, 'code' | 'message'>): PlainWords {
  const found = words.find(([said]) => said.test(message));
  if (found !== undefined) return { message: found[1], hint: found[2] };
  return (
    others[code] ?? {
      message: 'YAML cannot be read from here on.',
      hint: 'Look at the brackets, the quotes and the indentation of this line and the one above.',
    }
  );
}
