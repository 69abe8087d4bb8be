/** Says "insecure" where there is room and "!" where there is not; to a screen reader always the word. */
export function InsecureBadge() {
  return (
    <span class="badge insecure" title="Marked insecure">
      <span class="badge-word">insecure</span>
    </span>
  );
}
