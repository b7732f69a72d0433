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
    'Something stands behind a value that has ended already.',
    'Put the whole value in quotes, or remove what stands behind it.',
  ],
  [
    /^Unexpected (?:empty item|,) in /,
    'A value is missing before this comma.',
    'Write the value, or remove the comma.',
  ],
  [
    /^(?:Missing ,|Missing , or :) /,
    'A comma is missing between two items of a list or mapping in brackets.',
    'Write a comma between the items; a text with other characters than letters is put in quotes.',
  ],
  [/^Missing space after :/, 'A space is missing behind this colon.', 'Write key: value, with a space.'],
  [
    /^Implicit keys of flow/,
    'A key in brackets and its colon stand on different lines.',
    'Write key: value on one line.',
  ],
  [
    /^Implicit keys|^Implicit map keys/,
    'A key and its colon stand on different lines, or the colon is missing.',
    'Write key: value on one line.',
  ],
  [
    /^Not a YAML token/,
    'YAML cannot read this text.',
    'Put the whole value in quotes; a long text behind | or > begins on the next line, indented.',
  ],
  [
    /^Unexpected flow-(?:seq|map)-end/,
    'This bracket closes nothing: none is open here.',
    'Remove the bracket, or put the whole value in quotes.',
  ],
  [
    /^Unexpected block-seq-ind/,
    'A list begins behind something else on its line.',
    'Begin the list on a line of its own, indented below its key.',
  ],
  [/^Sequence item without/, 'An item of a list has no "-".', 'Begin each item of the list with "- ".'],
  [
    /^Invalid escape sequence/,
    'A backslash in double quotes begins a code that YAML does not know.',
    'Write \\\\ for a backslash, or put the text in single quotes.',
  ],
  [
    /^Comments must be separated/,
    'No space stands before this #, so that it begins no comment.',
    'Put a space before the #, or put the text in quotes.',
  ],
  [
    /^Block scalar header includes extra/,
    'Something stands behind the | or > that begins a long text.',
    'Begin the text on the next line, indented.',
  ],
  [
    /^Nested mappings are not allowed|^A block sequence may not/,
    'A second key, or a list, stands on the line of a key.',
    'Put it on the next line, indented; a text with ": " in it is put in quotes.',
  ],
  [
    /^(?:A )?(?:Alias|alias|Anchor|anchor)|^Anchors? |^An alias|^Tags and anchors/,
    'An anchor (&name) or an alias (*name) is not well formed.',
    'An anchor is &name before a value, an alias is *name in its place; a text that begins with & or * is put in quotes.',
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
    message: 'This line is indented unlike the lines that belong to it.',
    hint: 'Indent the keys of one mapping alike, and what is inside a key two spaces further.',
  },
  BLOCK_IN_FLOW: {
    message: 'A comma is missing inside brackets, or they are not closed before this line.',
    hint: 'Write a comma between two items, and close each [ with ] and each { with }.',
  },
  BAD_DIRECTIVE: {
    message: 'A line that begins with % is an instruction to the YAML reader, and not a known one.',
    hint: 'Remove the line, or put the text in quotes.',
  },
  MULTIPLE_DOCS: {
    message: 'The file holds more than one YAML document.',
    hint: 'One file is one pipeline: put what follows `---` into a file of its own, or remove it.',
  },
};

/** Explains an error of the YAML library in plain words, without YAML's internal terms. */
export function plainWords({ code, message }: Pick<YAMLError, 'code' | 'message'>): PlainWords {
  const found = words.find(([said]) => said.test(message));
  if (found !== undefined) return { message: found[1], hint: found[2] };
  return (
    others[code] ?? {
      message: 'YAML cannot be read on from here.',
      hint: 'Look at the brackets, the quotes and the indentation of this line and the one above.',
    }
  );
}
