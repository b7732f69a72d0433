/**
 * A plugin of Stryker that leaves out the mutants of prose: texts of two words and more. A mutant of a message only asks whether
 * a test repeats the message. Codes, names, headers and SQL stay in, and so does whatever a text computes.
 */

/** SQL is code: statements, their clauses and pragmas begin with a keyword in capitals. */
const sql =
  /^\s*(?:SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER|DROP|PRAGMA|BEGIN|COMMIT|ROLLBACK|WITH|FROM|WHERE|AND|ORDER|GROUP|ON|SET)\b/;

/** Whether a text is a sentence or a part of one. */
const isProse = (text) => /\p{L}[^\s]*\s+[^\s]/u.test(text) && !sql.test(text);

/** What a text may hold and still be left out: a name, or a member of one. Anything else has mutants of its own. */
const isPlain = (node) =>
  node.type === 'Identifier' || (node.type === 'MemberExpression' && !node.computed && isPlain(node.object));

export const strykerPlugins = [
  {
    kind: 'Ignore',
    name: 'prose',
    value: {
      shouldIgnore(path) {
        if (path.isStringLiteral() && isProse(path.node.value)) return 'prose';
        if (!path.isTemplateLiteral() || !path.node.expressions.every(isPlain)) return undefined;
        return isProse(path.node.quasis.map(({ value }) => value.raw).join('x')) ? 'prose' : undefined;
      },
    },
  },
];
