const tableCodes = {
  'table.columns': 'A row of a table has too few or too many columns.',
  'table.column-name': 'A column of a table has a name that cannot be a variable.',
  'table.duplicate-column': 'A column name occurs twice in a table.',
  'table.empty-column': 'A column of a table has no name.',
  'table.not-object': 'A row of a JSONL or YAML table is not an object.',
  'table.separator': 'The fields of a table are not separated as its format requires.',
  'table.no-header': 'The first line of a table looks like a row, not like the names of its columns.',
  'table.syntax': 'A table is not well formed.',
  'table.too-long': 'A line of a table is too long.',
  'table.too-many': 'A table has too many columns, or a YAML table too many rows.',
  'table.encoding': 'A table is not UTF-8.',
  'table.empty': 'A table has no rows.',
  'table.unreadable': 'A table cannot be read.',
  'table.changed': 'A table changed while it was read.',
  'table.outside': 'Files as rows are outside the folder that pipelines may read.',
} as const;

/** Codes of errors in tables. A closed list: a test asserts it. */
export type TableErrorCode = keyof typeof tableCodes;

/**
 * Every code that a diagnostic about a pipeline can have, with its meaning. A closed list: tests assert that each code can occur and that
 * no other code does.
 */
export const diagnosticCodes = {
  'yaml.syntax': 'The text is not YAML.',
  'yaml.tab': 'A tab is used where YAML requires spaces.',
  'yaml.documents': 'The file contains more than one YAML document.',
  'yaml.version': 'The file declares a YAML version other than 1.2.',
  'yaml.empty': 'The file is empty.',
  'yaml.size': 'The file is too large, by itself or by its aliases.',
  'yaml.nesting': 'Mappings and lists are nested too deeply.',
  'yaml.alias': 'An alias has no anchor before it, or lies inside its own.',
  'yaml.tag': 'A tag asks for something other than plain data.',
  'yaml.key': 'A key is not text, or is a name that cannot be a key.',
  'yaml.duplicate-key': 'A key occurs twice in a mapping.',
  'yaml.merge': 'A merge key (<<) names something other than mappings.',
  'yaml.number': 'A number is infinite or not a number.',

  'schema.unknown-key': 'A key is unknown here.',
  'schema.missing-key': 'A required key is missing.',
  'schema.key-choice': 'Exactly one of several keys is required.',
  'schema.type': 'A value has the wrong type.',
  'schema.value': 'A value is not one of the possible values, or has a wrong form.',
  'schema.range': 'A number, a list or a text is too small or too large.',
  'schema.name': 'A name contains characters that are not allowed.',

  'service.literal-key': 'The API key is written into the file.',
  'service.key-variable': 'The variable of the API key has the name of another service.',
  'service.variable': 'A ${VAR} is not well formed.',
  'service.variable-name':
    'A variable of the service block may hold a secret: outside of apiKey its name begins with PROMPTPRESS_VAR_.',
  'service.variable-outside': 'A ${VAR} outside the service block is not replaced.',
  'service.base-url': 'The base address is not an http(s) address.',

  'budget.unpriced': 'A cost budget cannot limit a step without a price.',
  'price.unused': 'A price applies to nothing in the pipeline.',
  'failures.code': 'A code of accepted failures is none that a failure can have.',
  'settings.order': 'A lower bound is above its upper bound.',

  'matrix.reserved': 'The name of an axis, a variable or a column is reserved.',
  'matrix.column-clash': 'A column of the rows has the name of an axis.',
  'matrix.rows-format': 'The rows are in a file of unknown format.',
  'matrix.glob': 'The glob of files as rows is not valid.',
  'matrix.no-files': 'No files match, so there are no rows.',
  'matrix.empty-axis': 'An axis has no value.',
  'matrix.range': 'A range ends before it begins.',
  'matrix.unknown-variable': 'An exclude names a variable that the matrix does not have.',
  'matrix.exclude-nothing': 'An exclude matches no cell.',
  'matrix.set': 'An axis cannot be replaced by --set.',
  'matrix.unused-axis': 'No request uses an axis, so its cells send the same requests.',

  'matrix.empty': 'No cell is left of the matrix.',
  'matrix.sample-too-large': 'A sample would have more cells than the matrix.',
  'matrix.too-large': 'The matrix has too many cells.',
  'plan.too-large': 'The steps have too many slots in one cell.',
  'plan.unknown-step': 'A step that was chosen does not exist.',

  'step.kind': 'A step has no kind key, or several.',
  'step.unknown': 'A step refers to a step that does not exist.',
  'step.from-and-gather': 'A step has both from and gather.',
  'step.gather-click': 'A click gathers several jobs.',
  'step.cycle': 'Steps wait for each other.',
  'step.no-buttons': 'A step presses a button of a step that makes text.',
  'step.unknown-branch': 'An address names a branch that the step does not have.',
  'step.no-parent': 'An image is "parent", but the step has no parent.',
  'step.several': 'Several jobs of a step could be meant.',
  'step.field': 'A template reads a result that a step does not have.',

  'step.each-list': 'The value of each is not a list.',
  'step.each-max': 'A max has no list, or lists have too many branches together.',
  'step.each-name': 'A variable of the matrix has the name of an item.',

  'step.same-request': 'The request of a step does not depend on what it starts from.',

  'step.gather-text': 'A step gathers a step that makes no images.',
  'gather.axis':
    'A step gathers or picks over an axis that the matrix does not have, or that its jobs are already one for.',
  'gather.variable':
    'A template of one job for a group of cells reads a variable that differs within the group.',
  'gather.mixed':
    'A step with one job for a group of cells reads a step of other groups, or of single cells.',
  'best.by': 'A step picks by a number that is the same for all.',
  'best.one': 'A step picks from one job in each cell.',
  'step.continue': 'A step continues a step without turns, or gives its own turns.',
  'step.no-json': 'A template reads the JSON of a step whose answer is not JSON.',
  'step.json-member': 'A template reads a member that the schema of the answer lacks.',
  'step.no-text': 'An object or a list of a result would be rendered as text.',
  'step.no-outputs': 'A step starts from an output of something that has no such output.',
  'step.output-name': 'A variable of the matrix has the name of what templates below an output read.',
  'step.output-button': 'A button other than U or V is pressed below an output.',
  'step.split-not-kept': 'A step cuts grids into frames, but downloads no grid.',
  'step.split-single': 'A step cuts grids into frames, but makes single images.',
  'step.rounds': 'A step without functions has rounds.',

  'button.unknown': 'No known model version offers a button.',
  'button.grid': 'A button of single images is pressed on a grid.',

  'modal.prompt': 'A button opens a window that requires a prompt, but there is none.',
  'modal.mask': 'A button opens a window that requires a mask, but there is none.',
  'modal.zoom': 'The prompt of a Custom Zoom has no --zoom, or one that is too small or too large.',
  'modal.remix': 'A button with a prompt opens its window only when it is remixed.',
  'modal.unused': 'A button has a prompt, mask or remix that it does not need.',

  'prompt.multiplied': 'The bot makes several tasks of one prompt.',
  'prompt.words': 'The bot reads a part of a prompt as words that has another meaning.',

  'mask.type': 'A mask is not a PNG file.',
  'mask.box': 'A shape of a mask is empty, or extends beyond the image.',

  'blend.count': 'A blend would have fewer images than 2, or more than 5.',
  'video.extend': 'A step extends something other than a video.',

  'image.address': 'The address of an image is not valid.',
  'image.data': 'A data URI is not well formed, or contains no image.',
  'image.type': 'A file name does not have the ending of an image.',
  'image.too-large': 'An image is too large.',

  'schema.answer': 'The schema of an answer is not valid, or cannot be checked.',
  'schema.twice': 'The schema of an answer is given twice.',

  'native.unknown-key': 'A member of a native object is probably mistyped.',

  'thinking.both': 'More than one thinking parameter is given.',
  'thinking.generation': 'A model does not accept thinking in this form.',
  'thinking.range': 'A model does not accept this level or this budget.',
  'thinking.unknown-model': 'It is unknown how a model takes its thinking.',

  'template.unknown-variable': 'A template names a variable that the matrix does not have.',
  'template.unknown-member':
    'A template names a member that no value of the variable has, or that one value lacks.',

  'template.object': 'A template would write a mapping or a list as text.',
  'template.syntax': 'A template is not Liquid.',
  'template.empty': 'A condition is empty.',
  'template.wrapped': 'A condition is written in {{ }} or {% %}.',
  'template.unknown-tag': 'A template uses a tag that does not exist.',
  'template.refused-tag': 'A template uses a tag that reaches beyond its variables.',
  'template.unknown-filter': 'A template uses a filter that does not exist.',
  'template.refused-filter': 'A template uses a filter that is not available.',
  'template.not-repeatable': 'A template would give a different text each day.',
  'template.reserved': 'A template assigns to a reserved name.',
  'template.computed-name': 'A template computes the name of a variable.',
  'template.steps': 'A template does not name the step that it reads.',
  'template.too-long': 'A template is too long.',
  'template.too-deep': 'A template is nested too deeply.',

  'path.empty': 'A button is missing in a path.',
  'path.dangling-arrow': 'A path begins or ends with an arrow.',
  'path.one-segment': 'There are several segments where one is expected.',
  'path.one-selector': 'A click presses several buttons.',
  'path.duplicate': 'A button occurs twice in a segment.',
  'path.bad-range': 'A range of buttons is not well formed.',
  'path.range-place': 'A range is used as an alternative.',
  'path.wildcard-place': 'A wildcard is not alone in its segment.',
  'path.optional-place': 'A single alternative is marked as optional.',
  'path.reserved': 'The name of a button is reserved.',
  'path.output': 'An output is not written as one, or stands where none can be.',
  'path.after-quote': 'There is text after a quoted label or a pattern.',
  'path.unclosed-quote': 'A quote in a path is not closed.',
  'path.unclosed-pattern': 'A pattern in a path is not closed.',
  'path.unclosed-template': 'A template in a path is not closed.',
  'path.bad-pattern': 'A pattern is not a regular expression.',
  'path.unsafe-pattern': 'A pattern could match for ever.',
  'path.too-long': 'A path is too long.',
  'path.too-many': 'A path has too many segments, branches or alternatives.',

  'address.step': 'An address does not begin with a step.',
  'address.separator': 'An address has an arrow instead of a slash.',
  'address.several': 'An address names several branches.',
  'address.star': 'A star is not alone at the end of an address.',
  'address.optional': 'An address has a question mark.',

  'file.missing': 'A file does not exist.',
  'file.outside': 'A file is outside the folder that pipelines may read.',
  'file.not-file': 'A path leads to a folder or something else than a file.',
  'file.more-mistakes': 'There are more errors than can be shown.',

  ...tableCodes,
} as const;

export type DiagnosticCode = keyof typeof diagnosticCodes;

/** Default hints by code, for diagnostics that are reported without a hint. */
export const usualHints: Readonly<Partial<Record<string, string>>> = {
  'yaml.syntax': 'Look at the brackets, the quotes and the indentation of this line and the one above.',
  'yaml.nesting': 'Write the value with fewer nested mappings and lists.',
  'yaml.tag': 'Remove the tag; put a text in quotes.',
  'schema.key-choice': 'Write one of them, and only one.',
  'settings.order': 'Swap the two, or change one of them.',
  'schema.answer':
    'A schema is written as in JSON Schema: { type: object, properties: { best: { type: integer } } }.',
  'template.empty': 'For example when: animal == "fox". Without a condition, leave when out.',
  'template.unknown-tag': 'Liquid has if, unless, case, for, assign, capture and a few more.',
  'template.computed-name': 'Write the name itself: {{ animal }} or {{ medium.name }}.',
  'template.too-long': 'Put long texts into a column of a table.',
  'template.too-deep': 'Write it with fewer nested tags or brackets.',
  'path.empty': 'For example path: U1..U4 → Vary (Strong).',
  'path.dangling-arrow': 'Write a button there, or remove the arrow.',
  'path.duplicate': 'Remove one of them.',
  'path.wildcard-place': 'Write the wildcard alone: U*.',
  'path.reserved': 'Name the button by its label.',
  'path.unclosed-quote': 'Close the quote, or remove it.',
  'path.unclosed-template': 'Close the template with }}.',
  'path.bad-pattern': 'A pattern is a regular expression between slashes: /upsample::2::/.',
  'path.unsafe-pattern': 'Write a simpler pattern, or the label of the button.',
  'path.too-long': 'Split the path: another step can continue a branch, from: grid/U1.',
  'path.too-many': 'Split the path: another step can continue a branch, from: grid/U1.',
  'address.star': 'For example grid/* or grid/**.',
  'address.optional': 'Leave the "?" out.',
};
