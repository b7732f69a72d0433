const tableCodes = {
  'table.columns': 'A row of a table has too few or too many columns.',
  'table.column-name': 'A column of a table has a name that cannot be a variable.',
  'table.duplicate-column': 'A column stands in a table twice.',
  'table.empty-column': 'A column of a table has no name.',
  'table.not-object': 'A row of a JSONL or YAML table is no object.',
  'table.separator': 'The fields of a table are separated by other characters than its kind has.',
  'table.no-header': 'The first line of a table looks like a row, not like the names of its columns.',
  'table.syntax': 'A table is not well formed.',
  'table.too-long': 'A line of a table is too long.',
  'table.too-many': 'A table has too many columns, or a YAML table too many rows.',
  'table.encoding': 'A table is not UTF-8.',
  'table.empty': 'A table has no rows.',
  'table.unreadable': 'A table cannot be read.',
  'table.changed': 'A table changed while it was read.',
  'table.outside': 'Files as rows lie outside the folder that pipelines may read.',
} as const;

/** Codes of errors in tables. A closed list: a test asserts it. */
export type TableErrorCode = keyof typeof tableCodes;

/**
 * Every code that a diagnostic about a pipeline can have, with its meaning. A closed list: tests assert that each code can occur and that
 * no other code does.
 */
export const diagnosticCodes = {
  'yaml.syntax': 'The text is not YAML.',
  'yaml.tab': 'A tab stands where YAML wants spaces.',
  'yaml.documents': 'The file holds more than one YAML document.',
  'yaml.version': 'The file asks for another YAML than 1.2.',
  'yaml.empty': 'The file is empty.',
  'yaml.size': 'The file is too large, by itself or by its aliases.',
  'yaml.nesting': 'Mappings and lists lie too deep in each other.',
  'yaml.alias': 'An alias has no anchor before it, or lies inside its own.',
  'yaml.tag': 'A tag asks for something other than plain data.',
  'yaml.key': 'A key is not text, or is a name that cannot be a key.',
  'yaml.duplicate-key': 'A key stands in a mapping twice.',
  'yaml.merge': 'A merge key (<<) names something other than mappings.',
  'yaml.number': 'A number is infinite or not a number.',

  'schema.unknown-key': 'A key that the language does not know here.',
  'schema.missing-key': 'A key that must be there is not.',
  'schema.key-choice': 'Exactly one of some keys must be there.',
  'schema.type': 'A value has the wrong type.',
  'schema.value': 'A value is none of those possible, or not written as it must be.',
  'schema.range': 'A number, a list or a text is too small or too large.',
  'schema.name': 'A name has characters that it cannot have.',

  'service.literal-key': 'The API key is written into the file.',
  'service.key-variable': 'The variable of the API key is that of another service by its name.',
  'service.variable': 'A ${VAR} is not well formed.',
  'service.variable-name':
    'A variable of the service block may hold a secret: outside of apiKey its name begins with PROMPTPRESS_VAR_.',
  'service.variable-outside': 'A ${VAR} outside the service block is not replaced.',
  'service.base-url': 'The base address is not an http(s) address.',

  'budget.unpriced': 'A cost budget cannot bound what has no price.',
  'price.unused': 'A price that nothing in the pipeline has.',
  'settings.order': 'A lower bound is above its upper bound.',

  'matrix.reserved': 'An axis, variable or column has a name that means something else.',
  'matrix.column-clash': 'A column of the rows has the name of an axis.',
  'matrix.rows-format': 'The rows are in a file of unknown format.',
  'matrix.glob': 'What should name files as rows is no glob.',
  'matrix.no-files': 'There are no files that could be rows.',
  'matrix.empty-axis': 'An axis has no value.',
  'matrix.range': 'A range ends before it begins.',
  'matrix.unknown-variable': 'An exclude names a variable that the matrix does not have.',
  'matrix.exclude-nothing': 'An exclude can match no cell.',
  'matrix.set': 'An axis cannot be replaced as --set says.',
  'matrix.unused-axis': 'An axis that no request uses: its cells ask for the same thing.',

  'step.kind': 'A step has no kind key, or several.',
  'step.unknown': 'A step that does not exist is named.',
  'step.from-and-gather': 'A step has both from and gather.',
  'step.gather-click': 'A click gathers several jobs.',
  'step.cycle': 'Steps wait for each other.',
  'step.no-buttons': 'A button of a step is pressed that makes text.',
  'step.unknown-branch': 'An address names a branch that the step does not have.',
  'step.no-parent': 'An image is the parent of a step that continues none.',
  'step.several': 'Several jobs of a step could be meant.',
  'step.field': 'A step does not offer what is asked of it.',

  'step.same-request': 'The request of a step does not depend on what it starts from.',

  'step.gather-text': 'What is gathered makes no images.',
  'step.continue': 'A step continues what has no turns, or says its own turns.',
  'step.no-json': 'The JSON of a step is asked for whose answer is no JSON.',
  'step.json-member': 'A member of an answer is asked for that its schema does not have.',
  'step.no-text': 'An object or a list of a result would be rendered as text.',
  'step.split-not-kept': 'A step cuts grids into frames and downloads none.',
  'step.split-single': 'A step cuts grids into frames and makes single images.',
  'step.rounds': 'Rounds are given to a step without functions.',

  'button.unknown': 'A button is pressed that no known model version offers.',
  'button.grid': 'A button is pressed on a grid that comes only under a single image.',

  'modal.prompt': 'A button opens a window that wants a prompt, and none is given.',
  'modal.mask': 'A button opens a window that wants a mask, and none is given.',
  'modal.zoom': 'The prompt of a Custom Zoom has no --zoom, or one that is too small or too large.',
  'modal.remix': 'A prompt is given to a button that opens its window only when it is remixed.',
  'modal.unused': 'A prompt, mask or remix is given to a button that has no use for it.',

  'prompt.multiplied': 'The bot makes several tasks of a prompt.',
  'prompt.words': 'The bot takes a part of a prompt for words that was meant as something else.',

  'mask.type': 'A mask is no PNG file.',
  'mask.box': 'A shape of a mask is empty, or reaches beyond the image.',

  'blend.count': 'A blend would have fewer images than 2, or more than 5.',
  'video.extend': 'A step extends what is no video.',

  'image.address': 'The address of an image is not one.',
  'image.data': 'A data URI is not well formed, or holds no image.',
  'image.type': 'A file is no image by its name.',
  'image.too-large': 'An image is too large.',

  'schema.answer': 'The schema of an answer is not one, or asks for what cannot be checked.',
  'schema.twice': 'A schema of the answer is given twice.',

  'native.unknown-key': 'A member of a native object is probably mistyped.',

  'thinking.both': 'More than one thinking parameter is given.',
  'thinking.generation': 'A model does not take its thinking this way.',
  'thinking.range': 'A model does not take this level or this budget.',
  'thinking.unknown-model': 'It is not known how a model takes its thinking.',

  'template.unknown-variable': 'A template names a variable that the matrix does not have.',
  'template.unknown-member':
    'A template names a member that no value of the variable has, or that one of them lacks.',

  'template.object': 'A template would write a mapping or a list as text.',
  'template.syntax': 'A template is not Liquid.',
  'template.empty': 'A condition is empty.',
  'template.wrapped': 'A condition is written in {{ }} or {% %}.',
  'template.unknown-tag': 'A template uses a tag that does not exist.',
  'template.refused-tag': 'A template uses a tag that reaches beyond its variables.',
  'template.unknown-filter': 'A template uses a filter that does not exist.',
  'template.refused-filter': 'A template uses a filter that is not available.',
  'template.not-repeatable': 'A template would give another text each day.',
  'template.reserved': 'A template gives a name a new meaning that has one of its own.',
  'template.computed-name': 'A template computes the name of a variable.',
  'template.steps': 'A template does not say which step it means.',
  'template.too-long': 'A template is too long.',
  'template.too-deep': 'A template is nested too deep.',

  'path.empty': 'A button is missing in a path.',
  'path.dangling-arrow': 'A path begins or ends with an arrow.',
  'path.one-segment': 'Several segments stand where one is expected.',
  'path.one-selector': 'A click presses several buttons.',
  'path.duplicate': 'A button stands in a segment twice.',
  'path.bad-range': 'A range of buttons is not well formed.',
  'path.range-place': 'A range is an alternative.',
  'path.wildcard-place': 'A wildcard does not stand alone.',
  'path.optional-place': 'A single alternative is optional.',
  'path.reserved': 'A button has a name that means something else.',
  'path.after-quote': 'Something stands behind a quoted label or a pattern.',
  'path.unclosed-quote': 'A quote in a path is not closed.',
  'path.unclosed-pattern': 'A pattern in a path is not closed.',
  'path.unclosed-template': 'A template in a path is not closed.',
  'path.bad-pattern': 'A pattern is no regular expression.',
  'path.unsafe-pattern': 'A pattern could take for ever.',
  'path.too-long': 'A path is too long.',
  'path.too-many': 'A path has too many segments, branches or alternatives.',

  'address.step': 'An address does not begin with a step.',
  'address.separator': 'An address has an arrow where a slash is meant.',
  'address.several': 'An address names several branches.',
  'address.star': 'A star does not stand alone at the end of an address.',
  'address.optional': 'An address has a question mark.',

  'file.missing': 'A file is not there.',
  'file.outside': 'A file lies outside the folder that pipelines may read.',
  'file.not-file': 'What should be a file is a folder or something else.',
  'file.more-mistakes': 'There are more mistakes than can be shown.',

  ...tableCodes,
} as const;

export type DiagnosticCode = keyof typeof diagnosticCodes;

/** Default hints by code, for diagnostics that are reported without a hint. */
export const usualHints: Readonly<Partial<Record<string, string>>> = {
  'yaml.syntax': 'Look at the brackets, the quotes and the indentation of this line and the one above.',
  'yaml.nesting': 'Write the value with fewer mappings and lists inside each other.',
  'yaml.tag': 'Remove the tag; a text stands in quotes.',
  'schema.key-choice': 'Write one of them, and only one.',
  'settings.order': 'Exchange the two, or change one of them.',
  'schema.answer':
    'A schema is written as in JSON Schema: { type: object, properties: { best: { type: integer } } }.',
  'template.empty': 'For example when: animal == "fox". Without a condition, leave when out.',
  'template.unknown-tag': 'Liquid has if, unless, case, for, assign, capture and a few more.',
  'template.computed-name': 'Write the name itself: {{ animal }} or {{ medium.name }}.',
  'template.too-long': 'Put long texts into a column of a table.',
  'template.too-deep': 'Write it with fewer tags or brackets inside each other.',
  'path.empty': 'For example path: U1..U4 → Vary (Strong).',
  'path.dangling-arrow': 'Write a button there, or remove the arrow.',
  'path.duplicate': 'Remove one of them.',
  'path.wildcard-place': 'Write the wildcard alone: U*.',
  'path.reserved': 'Name the button by its label.',
  'path.unclosed-quote': 'Close the quote, or remove it.',
  'path.unclosed-template': 'Close the template with }}.',
  'path.bad-pattern': 'A pattern is a regular expression between slashes: /upsample::2::/.',
  'path.unsafe-pattern': 'Write a simpler pattern, or the label of the button.',
  'path.too-long': 'Divide the path: another step goes on from a branch, from: grid/U1.',
  'path.too-many': 'Divide the path: another step goes on from a branch, from: grid/U1.',
  'address.star': 'For example grid/* or grid/**.',
  'address.optional': 'Leave the "?" out.',
};
