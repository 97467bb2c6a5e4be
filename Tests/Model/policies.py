"""Which policy decides about a column that two writers changed."""


def policy_of(replica, column):
    """Returns the column's own policy, or the table's. Rows that count as a whole have the table's policy alone."""
    if replica.grain == "row" or not replica.rules.hold("own-policy"):
        return replica.policy
    return replica.world.own_policies.get(column, replica.policy)
