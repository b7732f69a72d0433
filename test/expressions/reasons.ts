/**
 * Why an expression is safe that cannot be proven linear from what it is: its input has a bound that is said here, or it is
 * linear for a reason that the proof does not see. By file, then by the expression as it is written.
 */
export const reasons: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'pipeline/schema/message.ts': {
    '/[-_]+$/': 'Bound: the first 60 characters of a name.',
  },
  'pipeline/steps/reply-schema/assertions.ts': {
    'new RegExp(source, flags)': 'Only made, never matched: it tells whether the text is an expression.',
  },
  'pipeline/steps/reply-schema/check.ts': {
    'new RegExp(source, flags)':
      'Bound: at most 2^30 steps for all patterns of one answer (patternWork), else it is not matched.',
  },
  'pipeline/steps/domain/thinking.ts': {
    'new RegExp(`^(?:models/)?${name}${rest}$`)':
      'Proof: each round of the one loop begins with a hyphen, which the inner class does not hold.',
  },
  'pipeline/selectors/pattern.ts': {
    "new RegExp(source, 'u')":
      'Bound: the pattern has at most 2 open repeats and 4 choices, the text 256 characters (patternSubject).',
  },
  'plan/button-match.ts': {
    "new RegExp(`(?:^|::)(?:PicReader|PromptAnalyzer)::${number}(?:::|$)`, 'i')":
      'Proof: no loop; the number is our own.',
  },
  'service/http/connect/connector.ts': {
    '/^proxy-authenticate:(.*)$/im': "Bound: the head of a proxy's answer (maxHeadBytes).",
  },
  'service/http/told.ts': {
    '/(\\d+(?:\\.\\d+)?)(h|ms|m|s)/g': 'Bound: the first 64 characters of a header.',
    '/(?:"[^"]*"|[^,"])+/g': 'Bound: the first 2,000 characters of a header (maxCharacters).',
  },
  'run/scheduler/job-runner.ts': {
    '/\\b[a-z]+(?:_[a-z]+)+\\b|\\b[a-z]+[A-Z]\\w*\\b|(?<=["\'`])\\w+(?=["\'`])/g':
      'Bound: the words of a refusal, of which a message shows 600 characters (makeClean).',
  },
  'run/scheduler/routes/kind-names.ts': {
    '/"[^"]*"|`[^`]*`|“[^”]*”|「[^」]*」|(?<!\\w)\'[^\']*\'/g':
      'Bound: the words of a refusal, of which a message shows 600 characters (makeClean).',
    '/[\\w-]*\\d[\\w-]*/g':
      'Bound: the words of a refusal, of which a message shows 600 characters (makeClean).',
  },
  'sandbox/draw/canvas/colour.ts': {
    "new RegExp(`\\\\b(${colourNames})\\\\b`, 'gi')": 'Proof: no loop; the names are our own.',
  },
  'sandbox/draw/canvas/theme.ts': {
    "new RegExp( `(?<![\\\\w-])(?:(dark|deep|light|pale)[ -])?(?:[a-z]+-)?(${colourNames})(?:ish)?((?:[ -][a-z']+){0,2})[ -]$`, )":
      'Bound: the 60 characters before a subject.',
    '/[ -](?:a|an|the|and|or|of|in|on|at|by|with|for|from|to|under|over|near|behind|beside|\\w*(?:eye|tail|nose|ear|paw|foot|leg|throat|breast|crest|head|wing|tip)\\w*)\\b/':
      'Bound: two words of the 60 characters before a subject.',
    'new RegExp( `\\\\b(?:(dark|deep|light|pale)[ -])?(${colourNames})[ -](?:fur|pelt|feathers|plumage)\\\\b`, )':
      'Proof: no loop; the names are our own.',
    "new RegExp(subject, 'g')": 'Proof: a literal of the sandbox, listed where it stands, to find all of it.',
  },
  'sandbox/text/json/pattern.ts': {
    "new RegExp(source, 'u')": 'Bound: at most 2^26 steps for one text, else it is not matched.',
  },
  'sandbox/text/models.ts': {
    '/\\s*(?:\\p{L}{1,6}|\\p{N}{1,3}|[^\\s\\p{L}\\p{N}])|\\s+$/gu':
      'Proof: it matches at every place, for what follows white space is one of the three, or the end: no attempt fails.',
  },
  'service/image/prompts.ts': {
    '/^[ \\t>*_-]*(?:([1-9])\\uFE0F?\\u20E3|\\u{1F51F})/gmu':
      'Proof: one attempt for each line, for the loop reads no line break.',
    '/^[ \\t>*_#-]*(\\d{1,2})[ \\t]*(?:[.:)][*_]*[ \\t]|[．。：、）])/gm':
      'Proof: one attempt for each line, for no loop reads a line break.',
  },
};
