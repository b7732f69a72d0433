import type { TemplateScope, TemplateTree } from '../../pipeline/templates/template.ts';
import { isTemplate } from '../../pipeline/templates/tree.ts';
import { renderValue, type Value, WrittenNumber } from '../../pipeline/values/value.ts';
import { renderPlain } from './render.ts';

/** Fields of a conversation in native form. */
const conversations = new Set(['contents', 'messages', 'systemInstruction']);

export const isConversation = (name: string): boolean => conversations.has(name);

type Mapping = Readonly<Record<string, TemplateTree>>;

const isMapping = (tree: TemplateTree | undefined): tree is Mapping =>
  typeof tree === 'object' &&
  tree !== null &&
  !Array.isArray(tree) &&
  !isTemplate(tree) &&
  !(tree instanceof WrittenNumber);

/**
 * Renders turns. Their contents (`parts[].text`, and `content` of messages) are always text: the service rejects numbers and lists there.
 *
 * @throws TemplateError `template.object` if a single output is a list or a mapping
 */
export function renderTurns(tree: TemplateTree, scope: TemplateScope): Value {
  if (Array.isArray(tree)) return (tree as readonly TemplateTree[]).map((turn) => renderTurns(turn, scope));
  return isMapping(tree)
    ? renderMembers(tree, (name, member) => {
        if (name === 'parts') return renderParts(member, scope);
        return name === 'content' ? renderContent(member, scope) : renderPlain(member, scope);
      })
    : renderPlain(tree, scope);
}

const renderContent = (tree: TemplateTree, scope: TemplateScope): Value =>
  Array.isArray(tree) || isMapping(tree) ? renderParts(tree, scope) : renderSaid(tree, scope);

function renderParts(tree: TemplateTree, scope: TemplateScope): Value {
  if (Array.isArray(tree)) return (tree as readonly TemplateTree[]).map((part) => renderParts(part, scope));
  return isMapping(tree)
    ? renderMembers(tree, (name, member) =>
        name === 'text' ? renderSaid(member, scope) : renderPlain(member, scope),
      )
    : renderPlain(tree, scope);
}

function renderSaid(tree: TemplateTree, scope: TemplateScope): Value {
  if (isTemplate(tree)) return tree.render(scope);
  // A message that calls tools has null here.
  if (tree === null || Array.isArray(tree) || isMapping(tree)) return renderPlain(tree, scope);
  return renderValue(tree as Value);
}

const renderMembers = (mapping: Mapping, render: (name: string, member: TemplateTree) => Value): Value =>
  Object.fromEntries(Object.entries(mapping).map(([name, member]) => [name, render(name, member)]));
