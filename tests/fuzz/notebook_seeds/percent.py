#!/usr/bin/env python
# %% [markdown]
# # Title
# %% one
x = """
# %%
"""
#%%
print('#')
# In[3]:
y
