/**
 * Every code that a diagnostic about a pipeline can have, with what it means. Closed: tests assert that each one can
 * happen and that no other does.
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
  'yaml.merge': 'A merge key (<<) is used.',
  'yaml.number': 'A number is infinite or not a number.',

  'schema.unknown-key': 'A key that the language does not know here.',
  'schema.missing-key': 'A key that must be there is not.',
  'schema.key-choice': 'Exactly one of some keys must be there.',
  'schema.type': 'A value has the wrong type.',
  'schema.value': 'A value is none of those possible, or not written as it must be.',
  'schema.range': 'A number, a list or a text is too small or too large.',
  'schema.name': 'A name has characters that it cannot have.',

  'service.literal-key': 'The API key is written into the file.',
  'service.variable': 'A ${VAR} is not well formed.',
  'service.variable-outside': 'A ${VAR} outside the service block is not replaced.',
  'service.base-url': 'The base address is not an http(s) address.',

  'settings.order': 'A lower bound is above its upper bound.',

  'matrix.reserved': 'An axis, variable or column has a name that means something else.',
  'matrix.column-clash': 'A column of the rows has the name of an axis.',
  'matrix.rows-format': 'The rows are in a file of unknown format.',
  'matrix.empty-axis': 'An axis has no value.',
  'matrix.range': 'A range ends before it begins.',
  'matrix.unknown-variable': 'An exclude names a variable that the matrix does not have.',
  'matrix.exclude-nothing': 'An exclude can match no cell.',
  'matrix.unused-axis': 'An axis that no request uses: its cells ask for the same thing.',

  'step.kind': 'A step has no kind key, or several.',
  'step.unbuilt': 'A part of the language that this version cannot run yet.',
  'step.unknown': 'A step that does not exist is named.',
  'step.from-and-gather': 'A step has both from and gather.',
  'step.cycle': 'Steps wait for each other.',
  'step.unknown-branch': 'An address names a branch that the step does not have.',
  'step.no-parent': 'An image is the parent of a step that continues none.',
  'step.several': 'Several jobs of a step could be meant.',
  'step.field': 'A step does not offer what is asked of it.',

  'template.unknown-variable': 'A template names a variable that the matrix does not have.',
  'template.unknown-member': 'A template names a member that no value of the variable has.',

  'file.missing': 'A file is not there.',
  'file.outside': 'A file lies outside the folder that pipelines may read.',
  'file.not-file': 'What should be a file is a folder or something else.',
} as const;

export type DiagnosticCode = keyof typeof diagnosticCodes;
